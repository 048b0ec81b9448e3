// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that turn bufferized functions into kernels for NVIDIA GPUs, and into host code that launches them.

#ifndef RESID_CODEGEN_CUDA_PASSES
#define RESID_CODEGEN_CUDA_PASSES

include "mlir/Pass/PassBase.td"

def PlaceNumbers : Pass<"resid-cuda-place-numbers", "::mlir::ModuleOp"> {
  let summary = "keep scalars that are computed from elements of arrays in the memory of the device";
  let description = [{
    The host waits for no number in an array. A scalar that is computed from one is computed again before each op that
    needs it, from elements that are still there, or from copies of them in memrefs of rank 0. Nests and loops over
    elements compute it themselves then, so that reads of single elements stand in them. A kernel takes the memref of the
    scalar. What computes scalars in loops and branches of its own becomes a nest without loops; what such a loop carries
    beside arrays is carried in memory.
    Slices at places that are such numbers become arrays of their own, whose elements are moved. Bounds and conditions
    around kernels stay. Runs before scratch memory is planned.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def LowerKernels : Pass<"resid-cuda-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "outline each kernel into a function that a GPU runs, and launch it in its place";
  let description = [{
    Each rows.kernel on memrefs becomes a private function, marked `resid.cuda_kernel` with the number of its threads per
    block. In its place stands a call of `resid_cuda_launch_v1` (runtime/cuda/resid_cuda.h). Kernels with the same code
    share one function. The status of a launch goes to the status cell of the function around, where none stands yet.

    Rows stay in registers where they suit (RegisterPlan.h), and the host chooses by widths, addresses and strides.
    The looped emitter takes all others. It gives each row to a warp, and each thread of it the lanes t and t + 32. It
    keeps the order of sums (SumOrder.h): a lane's chain stays in one thread, and butterflies add up the 64 lanes. Phases
    read memory again.
    Blocks of four warps take rows in turn.

    Sums down the rows are two functions: one runs units of rows, each by the threads of a row, and leaves a sum per
    unit; the other one adds those up, those of a group first, and groups in f64. There are no atomics, so that the order is fixed.

    Where kernels alone hang on a condition that is a number in memory, the host does not wait for it: they are launched,
    and return at once where the number is 0.

    Other linalg ops have a thread for each element of their results, which runs the loops that do not tell elements
    apart in their order. Loops over single elements run in order in each thread, but for one whose steps have no element
    in common, which has a thread for each step. A scalar that is in a memref of rank 0 is loaded by the kernel.

    A contraction.kernel is a function too. Neighbouring threads have neighbouring rows, or columns, of the result, and
    each has up to eight elements along the other of the two. An element is one chain of terms in one thread. Chains of a
    known length are shared by the eight warps of a block, which leave their sums in shared memory, and add them in order.

    Copies and fills of whole arrays become calls of `resid_cuda_copy_v1` and `resid_cuda_fill_v1`. What else touches
    memory is an error that names the op, such as numbers that the host needs.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", "0",
           "neighbouring columns of a thread, where rows stay in registers: 2, 4 or 8; 0: by width and type">,
    Option<"blockRows", "block-rows", "int64_t", "0",
           "rows of a block of threads, where a row has at most a warp; 0: those of 64 threads, and one of few rows; "
           "-1: those of 64 threads">,
    Option<"keepWeights", "keep-weights", "bool", "false",
           "load what all rows share once for each row, and keep it in registers">,
    Option<"relaxProducts", "relax-products", "bool", "false",
           "matrix units may add up products of 16-bit floats, with the order and the roundings of the chip">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect"];
}

def FinishDeviceModule : Pass<"resid-cuda-finish-module", "::mlir::ModuleOp"> {
  let summary = "check that only LLVM operations are left, and make marked functions kernels of NVVM";
  let description = [{
    An operation of another dialect, or a call of a function that nothing defines, is an error with its name.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif
