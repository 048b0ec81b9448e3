// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How host code talks to the runtime's loader of GPU code: what it declares and calls (runtime/cuda/resid_cuda.h). Not:
// the images that the module of an object holds (ptx/Images.h).

#ifndef RESID_CODEGEN_CUDA_LAUNCH_H
#define RESID_CODEGEN_CUDA_LAUNCH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::resid::cuda {

/// The resid_cuda_module of an object. Its contents come when the module is LLVM's.
constexpr llvm::StringLiteral kModuleName = "resid.cuda_module";
/// What an object for GPUs imports, beside what CPU objects may.
constexpr llvm::StringLiteral kLoadName = "resid_cuda_load_v1", kLaunchName = "resid_cuda_launch_v1",
                              kCopyName = "resid_cuda_copy_v1", kFillName = "resid_cuda_fill_v1";

/// Makes a function one that a GPU runs, with a number among the kernels of the object. `threads`: of a block.
/// `registers`: what a thread may have at most, or 0 where the driver's compiler decides.
void markKernel(func::FuncOp function, int64_t number, int64_t threads, int64_t registers = 0);

struct Launch {
  /// The kernel's number in the object.
  int64_t kernel;
  /// Blocks, and threads of a block; i64.
  Value blocks, threads;
  ArrayRef<Value> arguments;
};

/// Launches before `place`, in the function `host`, whose first argument is the context and whose last one the status
/// cell. A status that is no RESID_OK is kept there where it is the first.
LogicalResult launchKernel(Operation *place, func::FuncOp host, const Launch &launch);

/// The same for a copy between arrays that are contiguous and do not overlap. `bytes`: i64.
LogicalResult copyMemory(Operation *place, func::FuncOp host, Value to, Value from, Value bytes);
/// The same for `count` (i64) elements that become `element`.
LogicalResult fillMemory(Operation *place, func::FuncOp host, Value to, Value element, Value count);

/// Loads the object's module at the builder's position, and gives the status (i32).
Value loadModule(OpBuilder &builder, Location loc, ModuleOp module, Value context);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_LAUNCH_H
