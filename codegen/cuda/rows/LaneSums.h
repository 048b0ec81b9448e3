// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of a row that is in registers, and reductions over them, in the order of SumOrder.h.

#ifndef RESID_CODEGEN_CUDA_ROWS_LANESUMS_H
#define RESID_CODEGEN_CUDA_ROWS_LANESUMS_H

#include "codegen/cuda/SharedArray.h"
#include "codegen/cuda/rows/RegisterPlan.h"
#include "codegen/cuda/rows/Shuffles.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::resid::cuda {

/// A thread among those of its row.
struct RowThread {
  /// At the builder's position. `openWidth`: the columns of a row of open width, i64.
  RowThread(Code &builder, const RegisterPlan &plan, Value openWidth);

  /// The row of the block, the span of the row, the thread of the span; the warp of the block, the thread of the warp;
  /// i64.
  Value row, span, thread, warp, warpThread;
  /// The first column of the thread, and the columns and the spans of the row; i64.
  Value column, width, spans;
  /// The threads of the row or the span in the warp, a bit for each (i32): those that a thread exchanges with.
  Value mask;
};

/// Reductions over the threads of a row. Rows of several spans meet in memory that their block of threads shares.
class LaneSums {
public:
  /// The values of a thread's lanes.
  using Lanes = SmallVector<Value>;

  LaneSums(Code &builder, const RegisterPlan &plan, const RowThread &thread, rows::KernelOp kernel);

  /// Before each row of a loop: who reads what the row before left in shared memory has to be done.
  void beginRow();

  /// The reductions of a phase, of f32: one value for each, in all threads. `mask`: the threads of the warp that reduce
  /// together (i32), or nothing for all of them.
  SmallVector<Value> reduce(rows::PhaseOp phase, ArrayRef<Lanes> lanes, Value mask);

private:
  /// All 64 lanes, dealt out to neighbouring threads of a warp. `number` says which of them the thread is (i64), and
  /// `mask` which threads of the warp take part.
  Value reduceThreads(rows::ReductionKind kind, Lanes lanes, Value number, Value mask);
  SmallVector<Value> reduceSpans(rows::PhaseOp phase, ArrayRef<Lanes> lanes);
  /// Whether one warp adds up the lanes of a row's spans for all, or each warp does so for itself.
  bool addsInOneWarp() const;
  SmallVector<Value> addInOneWarp(rows::PhaseOp phase, int64_t reductionSlots);
  Value addSpans(rows::ReductionKind kind, int64_t area);
  Lanes addSpan(rows::ReductionKind kind, Lanes totals, Value first, int64_t area);
  void storeLanes(ArrayRef<Lanes> lanes, int64_t area);
  /// A place in shared memory, in f32: `index` (i64, or nothing) and `more`.
  Value getSlot(Value index, int64_t more);

  Code &builder;
  const RegisterPlan &plan;
  const RowThread &thread;
  /// The f32 of a phase, how many phases have memory of their own, and how many were emitted.
  int64_t areaSlots = 0, areas = 0, phases = 0;
  /// Where there are sums of several spans.
  std::optional<SharedArray> memory;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_LANESUMS_H
