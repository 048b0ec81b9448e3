// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that give functions their C interface.

#ifndef RESID_CODEGEN_BOUNDARY_PASSES
#define RESID_CODEGEN_BOUNDARY_PASSES

include "mlir/Pass/PassBase.td"

def InlineCalls : Pass<"resid-inline-calls", "::mlir::ModuleOp"> {
  let summary = "replace calls by the bodies of their callees, and drop private functions";
  let description = [{
    Replaces all calls that public functions lead to by the bodies of their callees, whatever their size. So compiled
    functions have no calls, and rows can be fused across them. Recursion is an error. So is a callee without a body or
    with several blocks, and a call of a function value.
  }];
}

def PrepareEntries : Pass<"resid-prepare-entries", "::mlir::ModuleOp"> {
  let summary = "rewrite public functions on tensors into destination form";
  let description = [{
    Each public function F becomes a private function F.impl with these arguments: the caller's context (`!llvm.ptr`),
    one argument per argument of F (a memref for a tensor), one memref per result, and the status cell (`memref<i32>`).

    The attribute `resid.signature` says how F looks from C: the names, which run-time sizes must be equal, and where
    each size of a result comes from. C names come from the argument attribute `resid.name`, else they are argN. With
    `weights-struct`, arguments marked `resid.weight` or `resid.prepared` are members of one struct in C.

    Arguments of i4 become their bytes, two elements in each, which are unpacked where F.impl begins.

    Calls must have been inlined. A result whose size does not follow from the arguments' sizes is an error.
  }];
  let options = [Option<"prefix", "prefix", "std::string", /*default=*/"\"\"",
                        "what the C names of functions begin with">,
                 Option<"weightsStruct", "weights-struct", "bool", /*default=*/"false",
                        "take weights in one struct: arguments marked resid.weight, and those that F_prepare makes">,
                 Option<"isForDevice", "device", "bool", /*default=*/"false",
                        "kernels run on a GPU, and arrays lie in its memory">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def PlanScratch : Pass<"resid-plan-scratch", "::mlir::ModuleOp"> {
  let summary = "lay all temporaries of a call into one block of scratch memory";
  let description = [{
    Works on functions with a `resid.signature`, after bufferization. Each memref.alloc becomes a view into the argument
    `%scratch : memref<?xi8>`, which is added before the status cell. Views start at multiples of 64 bytes. Small static
    buffers go to the stack, unless kernels run on a GPU.

    Views overlap where their contents are not needed at the same time. A buffer lives from the first operation that
    touches it, through whatever view, to the last. One that is made before a loop and touched in it lives through all
    of the loop. Buffers of known sizes share one part of the block: the largest gets its place first, and each later
    one the smallest gap among those that live when it does. Buffers of open sizes share a part where their bytes are
    multiples of the same expression, such as 1536·n and 6144·n. Where such a multiple is itself no multiple of 64, the
    buffer shares its place as a whole.

    A private function F.scratch computes the number of bytes from the run-time sizes of F. It answers RESID_BAD_SHAPE
    where the number overflows. A temporary is an error if its size does not follow from the arguments' sizes, or if a
    loop carries it to its next iteration.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def BuildEntries : Pass<"resid-build-entries", "::mlir::ModuleOp"> {
  let summary = "make the C functions that check their arguments and call the implementations";
  let description = [{
    Works on each function F.impl with a `resid.signature`, after bufferization. Makes two functions: F_scratch_bytes,
    and the exported function F. F checks context, pointers, sizes, overlaps and the processor, in this order. Then it
    takes scratch memory, calls F.impl and answers the status. An output may be exactly an input's buffer where the
    implementation is a single rows.kernel that reads that input with the output's rows and columns.

    F.impl gets new arguments: pointers, scalars, row strides, each open size once, and a status cell if it stores a
    status. A memref in it becomes a cast from its pointer, its open sizes and its row stride.

    With `variants`, F calls F.impl.name instead, for the first CPU of the list whose features the processor has. These
    functions are declared, with the attribute `resid.per_cpu`. Their bodies are made from F.impl, one module per CPU.

    Where the signature says that kernels run on a GPU, F asks the runtime to load the object's kernels once its
    arguments are found good, and answers the status where that fails. F_preload does so alone. F.impl answers the status
    of a launch that failed.
  }];
  let options = [Option<"isAArch64", "aarch64", "bool", "false",
                        "the processor is an aarch64, which Linux is asked about; else an x86-64, asked by CPUID">,
                 ListOption<"cpuFeatures", "cpu-features", "std::string",
                            "features that the processor must have; see codegen/machine/CPUFeatures.h">,
                 ListOption<"variants", "variants", "std::string",
                            "several CPUs instead, the best first, each as name:feature+feature">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

#endif
