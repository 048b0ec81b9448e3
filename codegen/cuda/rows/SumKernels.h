// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums down the rows on a GPU, in the order of SumOrder.h: one kernel runs units of rows and leaves a sum of each, a
// second one adds those up. No atomics. Not: the rows of a unit, which an emitter runs (LoopedRows.h).

#ifndef RESID_CODEGEN_CUDA_ROWS_SUMKERNELS_H
#define RESID_CODEGEN_CUDA_ROWS_SUMKERNELS_H

#include "codegen/cuda/rows/LoopedRows.h"
#include "codegen/rows/SumOrder.h"
#include "codegen/rows/SumsDownRows.h"

namespace mlir::resid::cuda {

/// Columns that a block of the second kernel adds up, and its threads: a warp for each pair of the lanes l and l + 32.
constexpr int64_t kResultColumns = kWarpThreads, kResultThreads = kResultColumns * rows::kSumLanes / 2;

/// What a thread of it may have: all registers of a processor, for one block.
constexpr int64_t kResultRegisters = 64;

/// Emits code of a kernel with sums, at the builder's position.
class SumKernels : protected rows::SumsDownRows {
public:
  SumKernels(Code &builder, rows::KernelOp kernel, const rows::KernelAddresses &addresses);

  /// All rows of a unit (i64), by the threads of a warp, of which `thread` (i64) is one.
  void emitUnit(LoopedRowEmitter &emitter, Value thread, Value unit);
  /// The results in the columns from `first` (i64) on, by the threads of a block. There is at least one row.
  void emitResults(Value first);

protected:
  /// The chains of a unit, whose memory is rows::UnitMemory: `emitChain` runs the rows from one on to another and
  /// leaves their sums in level 0, and `addUp` adds those to level 1, or moves them there where its argument (i1)
  /// holds.
  void emitUnit(rows::RowEmitter &emitter, Value unit, function_ref<void(Value, Value)> emitChain,
                function_ref<void(Value)> addUp);
  /// Calls `body` for the columns of a thread, of all sums.
  void emitPass(Value thread, function_ref<void(const Sum &, Value column)> body);
  void addUp(Value thread, Value isFirst);
  Value sumLane(const Sum &sum, Value lane, Value column);
  Value getShared();
  void emitResult(const Sum &sum, Value shared, Value warp, Value thread, Value column, Value isPresent);
  Value load(Type type, Value pointer, Value index);
  void store(Value value, Value pointer, Value index);
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_SUMKERNELS_H
