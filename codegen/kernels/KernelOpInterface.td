// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of kernels, of whatever kind. What outlines, shares, lowers and reports kernels knows them by this
// alone.

#ifndef RESID_CODEGEN_KERNELS_KERNELOPINTERFACE
#define RESID_CODEGEN_KERNELS_KERNELOPINTERFACE

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def KernelOpInterface : OpInterface<"KernelOpInterface", [DestinationStyleOpInterface]> {
  let cppNamespace = "::mlir::resid::kernels";
  let description = [{
    An op that a target runs by code of its own: on tensors first, then on buffers. Kernels of one module that are equal
    but for where their operands lie share that code.
  }];
  let methods = [
    InterfaceMethod<[{
      Reads how the operands of a kernel on buffers are indexed. Emits what computes pointers, open sizes and open strides
      at the builder's position, before the kernel. An error names what no target can run.
    }], "::mlir::FailureOr<std::shared_ptr<::mlir::resid::kernels::KernelIndexing>>", "computeIndexing",
        (ins "::mlir::OpBuilder &":$builder)>,
    InterfaceMethod<[{
      The scalars from outside that the kernel's regions use, one entry per use, in an order that equal kernels share.
    }], "::llvm::SmallVector<::mlir::Value>", "getOuterScalars", (ins), "",
        "return ::mlir::resid::kernels::collectCaptured($_op);">,
    InterfaceMethod<"Whether the kernel reads what is in an init before.", "bool", "readsInit",
        (ins "::mlir::OpOperand &":$init), "", "return false;">,
    InterfaceMethod<[{
      Whether an init of the same type may be written to exactly the buffer of an input: each element is read before it
      is overwritten.
    }], "bool", "mayOverwrite", (ins "::mlir::OpOperand &":$input, "::mlir::OpOperand &":$init), "", "return false;">,
    InterfaceMethod<[{
      Memory that the target of the kernel asked for (Target::countScratch): one buffer, or none.
    }], "::mlir::MutableOperandRange", "getScratchMutable">];
  let extraSharedClassDeclaration = [{
    /// Whether operands are in memory.
    bool isOnBuffers() {
      return ::llvm::all_of($_op.getDpsInits(), [](::mlir::Value init) {
        return ::llvm::isa<::mlir::MemRefType>(init.getType());
      });
    }
  }];
}

#endif
