// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that threads of a warp hand to each other, and sums of 64 lanes by them. Not: who holds which lanes.

#ifndef RESID_CODEGEN_CUDA_ROWS_SHUFFLES_H
#define RESID_CODEGEN_CUDA_ROWS_SHUFFLES_H

#include "codegen/rows/RowsDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::resid::cuda {

/// Threads of a warp.
constexpr int64_t kWarpThreads = 32;

/// The value (f32, f64 or i32) of the thread whose number differs in the bits of `distance`. `mask` (i32) has a bit for
/// each thread of the warp that takes part; without it, all do.
Value exchange(OpBuilder &builder, Value value, int64_t distance, Value mask = {});

/// The 64 lanes of a reduction added up, where thread t of a warp has the lanes t and t + 32. Lane l takes l + 32, then
/// l + 16, 8, 4, 2 and 1; all threads end with the same bits.
Value reduceLanes(OpBuilder &builder, rows::ReductionKind kind, Value low, Value high);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_SHUFFLES_H
