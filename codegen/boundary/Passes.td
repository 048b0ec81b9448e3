// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that give functions their C interface.

#ifndef RESID_CODEGEN_BOUNDARY_PASSES
#define RESID_CODEGEN_BOUNDARY_PASSES

include "mlir/Pass/PassBase.td"

def InlineCalls : Pass<"resid-inline-calls", "::mlir::ModuleOp"> {
  let summary = "replace calls by the bodies of their callees, and drop private functions";
  let description = [{
    Compiled functions have no calls, so that rows can be fused across them. All calls that public functions lead to are
    replaced, whatever the callee's size. Recursion, a callee without a body or of several blocks, and a call of a function
    value are errors.
  }];
}

def PrepareEntries : Pass<"resid-prepare-entries", "::mlir::ModuleOp"> {
  let summary = "rewrite public functions on tensors into destination form";
  let description = [{
    Each public function F becomes a private function F.impl with the arguments: the caller's context (`!llvm.ptr`), one
    argument per argument of F (a memref for a tensor), one memref per result, and the status cell (`memref<i32>`). Its
    attribute `resid.signature` says how F looks from C: names, which run-time sizes must be equal, and where each size of
    a result comes from. C names come from the argument attribute `resid.name`, else they are argN.

    Calls must have been inlined. A result whose size does not follow from the arguments' sizes is an error.
  }];
  let options = [Option<"prefix", "prefix", "std::string", /*default=*/"\"\"",
                        "what the C names of functions begin with">];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

def PlanScratch : Pass<"resid-plan-scratch", "::mlir::ModuleOp"> {
  let summary = "lay all temporaries of a call into one block of scratch memory";
  let description = [{
    For functions with a `resid.signature`, after bufferization. Each memref.alloc becomes a view into the argument
    `%scratch : memref<?xi8>`, which is added before the status cell; views start at multiples of 64 bytes and do not
    overlap. A private function F.scratch computes the number of bytes from the run-time sizes of F; it answers
    RESID_BAD_SHAPE where the number overflows. Small static buffers go to the stack. A temporary whose size does not
    follow from the arguments' sizes, or that a loop carries to its next iteration, is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def BuildEntries : Pass<"resid-build-entries", "::mlir::ModuleOp"> {
  let summary = "make the C functions that check their arguments and call the implementations";
  let description = [{
    For each function F.impl with a `resid.signature`, after bufferization: the exported function F, which checks context,
    pointers, sizes, overlaps and the processor (in this order), takes scratch memory, calls F.impl and answers the
    status; and F_scratch_bytes. An output may be exactly an input's buffer where the implementation is a single
    rows.kernel that reads that input with the output's rows and columns.

    F.impl is rewritten to be called with pointers, scalars, row strides, each open size once, and a status cell where it
    stores a status; a memref in it is a cast from its pointer, its open sizes and its row stride.

    With `variants`, F calls F.impl.name instead, for the first CPU of the list whose features the processor has. These
    functions are declared, with the attribute `resid.per_cpu`; their bodies are made from F.impl, one module per CPU.
  }];
  let options = [Option<"isAArch64", "aarch64", "bool", "false",
                        "the processor is an aarch64, which Linux is asked about; else an x86-64, asked by CPUID">,
                 ListOption<"cpuFeatures", "cpu-features", "std::string",
                            "features that the processor must have; see codegen/machine/CPUFeatures.h">,
                 ListOption<"variants", "variants", "std::string",
                            "several CPUs instead, the best first, each as name:feature+feature">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

#endif
