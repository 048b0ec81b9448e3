// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the backward of attention does with a row of scores of a chunk, between its products;
// docs/dialect/attention_grad.md fixes it. Not: the products.

#ifndef RESID_CODEGEN_CPU_ATTENTION_BACKWARDROWS_H
#define RESID_CODEGEN_CPU_ATTENTION_BACKWARDROWS_H

#include "codegen/cpu/attention/ScoreRows.h"

namespace mlir::resid::cpu {

/// One row of a chunk.
struct BackwardRow {
  /// Its products of query and keys, where the weights go.
  ScoreRow score;
  /// Its products of dy and values, where the gradients of weights go, and then those of scores.
  Value gradients;
  /// Its first number in panels of 16 keys, and the distance of panels in elements.
  Value panels;
  int64_t panelStride;
};

class BackwardRows {
public:
  explicit BackwardRows(AttentionView &view)
      : view(view), code(view.code), rows(view), numbers(view.code, view.shape) {}

  /// Makes weights and their gradients. What the values take of dy goes into the panels. Gives the sum of weights times
  /// gradients.
  Value emitWeights(const BackwardRow &row, Value max, Value sum);
  /// Makes the gradients of scores, in the panels too. `mean` is the sum over all keys.
  void emitScoreGradients(const BackwardRow &row, Value mean);

private:
  Value at(Value row, Value key) { return code.at(row, view.getArithmetic(), key); }
  Value atPanel(const BackwardRow &row, Value key);

  AttentionView &view;
  Code &code;
  ScoreRows rows;
  attention::ScoreArithmetic numbers;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ATTENTION_BACKWARDROWS_H
