// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that threads of a warp hand to each other, and sums of 64 lanes by them. Not: who holds which lanes.

#ifndef RESID_CODEGEN_CUDA_ROWS_SHUFFLES_H
#define RESID_CODEGEN_CUDA_ROWS_SHUFFLES_H

#include "codegen/builder/Code.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::resid::cuda {

/// Threads of a warp.
constexpr int64_t kWarpThreads = 32;

/// The number that an op of NVVM gives a thread, as i64.
template <typename OpTy> Value getNumber(Code &builder) {
  return builder.castInteger(builder.create<OpTy>(builder.getI32Type()), builder.getI64Type());
}
/// These elements as a vector.
Value makeVector(Code &builder, ArrayRef<Value> elements);

/// The value (f32, f64 or i32) of the thread whose number differs in the bits of `distance`. `mask` (i32) has a bit for
/// each thread of the warp that takes part; without it, all do.
Value exchange(Code &builder, Value value, int64_t distance, Value mask = {});

/// The value of thread `number` of the warp, of which all threads take part.
Value takeFrom(Code &builder, Value value, int64_t number);

/// The 64 lanes of a reduction added up, where thread t of a warp has the lanes t and t + 32. Lane l takes l + 32, then
/// l + 16, 8, 4, 2 and 1; all threads end with the same bits.
Value reduceLanes(Code &builder, rows::ReductionKind kind, Value low, Value high);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_SHUFFLES_H
