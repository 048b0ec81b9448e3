// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of a phase over the columns of a row, on vectors, with the accumulators of the ordered sums as loop-carried
// values. Not: what is done in a step (VectorBody.h).

#ifndef RESID_CODEGEN_CPU_ROWS_COLUMNLOOPS_H
#define RESID_CODEGEN_CPU_ROWS_COLUMNLOOPS_H

#include "codegen/cpu/rows/VectorBody.h"

namespace mlir::resid::cpu {

class ColumnLoops {
public:
  using Parts = VectorBody::Parts;
  /// One value per reduction and part of the lanes.
  using Accumulators = SmallVector<Value>;
  /// Emits a step as VectorBody::emit does, and gives what the phase yields.
  using Step = function_ref<SmallVector<Parts>(Value column, std::optional<PresentColumns> present, ValueRange drawn)>;

  ColumnLoops(VectorFunction &function, rows::PhaseOp phase, VectorBody &body)
      : function(function), builder(function.builder), tail(function.tail), phase(phase), body(body) {}

  /// Of a phase without sums.
  void emitElementwise();
  /// The same, where `step` emits each step.
  void emitElementwise(function_ref<void(Value column, std::optional<PresentColumns> present)> step);
  /// Of a phase with sums: the totals, per reduction the vectors that make up its 64 lanes.
  Accumulators emitSpans(Step step);

private:
  SmallVector<SmallVector<int64_t>> findStepsOfMoves();
  void emitSteps(SmallVector<Value> last, Step step);
  SmallVector<Value> emitInTail(std::optional<bool> isThere, Value first, Value end, ValueRange otherwise,
                                function_ref<SmallVector<Value>()> emit);
  SmallVector<Value> drawNext(Value column, Value end, ValueRange drawn);
  Accumulators createNeutral(int64_t parts);
  void emitSweeps(Step step, Value first, Value end, Accumulators &totals);
  void emitSweep(Step step, Value first, Value end, ArrayRef<int64_t> lanes, Accumulators &totals);
  Accumulators emitTail(Step step, int64_t lane, Value column, Value end, ValueRange sums, ValueRange drawn);
  Accumulators emitChunk(Step step, Value column, std::optional<PresentColumns> present, ValueRange accumulators,
                         ValueRange drawn);

  VectorFunction &function;
  Code &builder;
  RowTail &tail;
  rows::PhaseOp phase;
  VectorBody &body;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_COLUMNLOOPS_H
