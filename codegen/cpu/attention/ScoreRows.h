// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The softmax of one row of scores of a chunk, as docs/numerics.md fixes it. Not: the products on both sides of it.

#ifndef RESID_CODEGEN_CPU_ATTENTION_SCOREROWS_H
#define RESID_CODEGEN_CPU_ATTENTION_SCOREROWS_H

#include "codegen/attention/ScoreArithmetic.h"
#include "codegen/cpu/attention/AttentionView.h"

namespace mlir::resid::cpu {

using attention::kInfinity;

/// One row of a chunk.
struct ScoreRow {
  /// The products of query and keys, where the weights go. Room for a whole number of 64 keys.
  Value scores;
  /// Keys from `from`, a multiple of 64, up to `keys` are computed for this row and its neighbours, at most 256. This
  /// row may see those from `hidden` up to `visible`; null: from the first.
  Value from, keys, hidden, visible;
  /// The mask's element of the first key; null without a mask.
  Value mask;
  /// Whether absent keys must be told from those of weight 0 (i1).
  Value marksAbsent;
  /// For dropout: the row in the generator's counters, and the first key of the chunk.
  Value randomRow, firstKey;
  /// With a cap, where the slopes of its tanh go; null where nobody wants them.
  Value slopes;

  /// Finds what a query sees of the chunk that begins with key `first`, its mask, and its row of dropout.
  void see(AttentionView &view, const QueryPlace &place, Value first);
};

class ScoreRows {
public:
  explicit ScoreRows(AttentionView &view) : view(view), code(view.code), numbers(view.code, view.shape) {}

  /// Turns products into scores, and gives the largest one; -Inf without a present key.
  Value emitScores(const ScoreRow &row);
  /// Turns scores into weights, and gives their sum. An absent key gets +0 or, with `row.marksAbsent`, -0, which is no
  /// weight of a present one. So does one that is dropped, once it is in the sum.
  Value emitWeights(const ScoreRow &row, Value max);
  /// Whether an element of a vector of i1 is set.
  Value hasAny(ArrayRef<Value> flags);
  /// Combines lanes l and l+32, l+16, 8, 4, 2, 1.
  Value reduce(ArrayRef<Value> lanes, function_ref<Value(Value, Value)> combine);
  /// Which of the 64 keys from `block` on dropout keeps (vectors of i1).
  SmallVector<Value> drawKept(const ScoreRow &row, Value block);

  /// Lanes of the ordered sum S.
  static constexpr int64_t kLanes = 64;
  /// Vectors that hold the lanes of the ordered sum.
  static constexpr int64_t kVectors = kLanes / kPanelColumns;

private:
  struct Lanes {
    SmallVector<Value> max, isNaN;
  };
  Lanes findLargest(const ScoreRow &row);
  SmallVector<Value> findLargest(const ScoreRow &row, Value first, Value end, bool areVisible, ValueRange carried);
  Value findPresent(const ScoreRow &row, Value key);
  Value loadScore(const ScoreRow &row, Value key, Value place, bool isVisible);
  SmallVector<Value> emitWeights(const ScoreRow &row, Value reference, bool marksAbsent);

  AttentionView &view;
  Code &code;
  attention::ScoreArithmetic numbers;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ATTENTION_SCOREROWS_H
