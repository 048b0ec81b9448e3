// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The looped emitter: a warp runs a row, in loops over its columns, and phases read memory again. It takes any width,
// type, stride and number of phases. Not: which rows a warp runs (RowKernels.h).

#ifndef RESID_CODEGEN_CUDA_ROWS_LOOPEDROWS_H
#define RESID_CODEGEN_CUDA_ROWS_LOOPEDROWS_H

#include "codegen/cuda/rows/Shuffles.h"
#include "codegen/rows/RowEmitter.h"

namespace mlir::resid::cuda {

/// What a thread may have, which leaves a processor of a chip 512 threads, or 384 where there are sums down the rows.
constexpr int64_t kLoopedRegisters = 128, kLoopedRegistersWithSums = 168;

/// Thread t of a warp has the lanes t and t + 32 of each chunk of 64 columns. So neighbours read neighbouring elements,
/// whatever the alignment of the row, and the chain of a lane never leaves its thread.
class LoopedRowEmitter : public rows::RowEmitter {
public:
  /// `thread` (i64) is the thread's number in its warp.
  LoopedRowEmitter(Code &builder, Block *entry, const rows::KernelAddresses &addresses, const IRMapping &mapping,
                   Value thread)
      : RowEmitter(builder, entry, addresses, mapping, kernels::Alignment::Element), thread(thread) {}

  /// All of row `row` (i64).
  void emitRow(rows::KernelOp kernel, Value row);

private:
  /// One value per reduction and lane of the thread: those of the first reduction come first.
  using Lanes = SmallVector<Value>;

  void emitPhase(rows::PhaseOp phase) override;
  void emitColumnOperation(Operation *op) override;
  void emitRowStore(rows::StoreOp store) override;

  /// The columns [first, end) of a span: `lanes` with their values taken in.
  Lanes emitColumns(rows::PhaseOp phase, Value first, Value end, Lanes lanes);
  /// The thread's columns of the chunk at `chunk`; those from `end` on are absent, where it is given.
  Lanes emitChunk(rows::PhaseOp phase, Value chunk, Value end, Lanes lanes);
  /// The body at a column, and `lanes` of that place with the yielded values taken in.
  SmallVector<Value> emitColumn(rows::PhaseOp phase, Value column, ArrayRef<Value> lanes);
  Lanes createNeutral(rows::PhaseOp phase);

  Value thread;
  /// Of the column at hand, as i64.
  Value column;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_LOOPEDROWS_H
