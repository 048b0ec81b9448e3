// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that convert what every target's code is made of to the LLVM dialect.

#ifndef RESID_CODEGEN_CONVERSION_PASSES
#define RESID_CODEGEN_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertToLLVM : Pass<"resid-convert-to-llvm", "::mlir::ModuleOp"> {
  let summary = "convert loops, and then all other ops at once, to the LLVM dialect";
  let description = [{
    Ops that have no conversion stay, with casts between their types and LLVM's. A memref that is a cast from a pointer
    and its open sizes gets a descriptor if it is still used. MLIR's passes first break down vector ops other than the
    broadcast of a scalar. They do not run where there are none.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}

def MoveLoopAnnotations : Pass<"resid-move-loop-annotations"> {
  let summary = "make loop annotations that survived the conversion of scf.for part of the branches";
  let description = [{
    The upstream conversions carry `llvm.loop_annotation` of an scf.for along to the branch of the latch as a
    discardable attribute, which the translation to LLVM IR ignores. This pass makes it the branch's own.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif
