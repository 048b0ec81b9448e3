// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels under a condition that is a number in the memory of a device. The host never waits to read it: such a kernel
// is launched always, and its threads return at once where the number is 0.

#ifndef RESID_CODEGEN_CUDA_ROWS_GUARDS_H
#define RESID_CODEGEN_CUDA_ROWS_GUARDS_H

#include "codegen/builder/Code.h"
#include "codegen/kernels/SharedFunctions.h"
#include "codegen/rows/RowsDialect.h"

namespace mlir::resid::cuda {

/// Where a condition compares the number of a memref of rank 0 with 0, and kernels alone hang on it: makes the memref
/// their last input, which guards them, and takes the condition away. Other conditions stay.
void guardKernels(ModuleOp module);

/// Emits what the threads of a kernel do, where nothing guards it or its guard is not 0.
void emitGuarded(Code &builder, const kernels::KernelBody &body, rows::KernelOp kernel, function_ref<void()> emit);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_GUARDS_H
