// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention that is written out: a product, a softmax of it, and a product with values. Looks at the program only. Not:
// the op that it becomes (AttentionBuilder.h).

#ifndef RESID_PASSES_RAISE_ATTENTIONFORM_H
#define RESID_PASSES_RAISE_ATTENTIONFORM_H

#include "dialect/Contraction.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/raise/Softmax.h"

namespace mlir::resid {

/// Some dimensions of the scores that follow each other, in one.
struct DimensionRange {
  unsigned first, count;
  bool operator==(const DimensionRange &other) const { return first == other.first && count == other.count; }
};

/// What a dimension of an operand is of the scores; nothing for the features of a head.
using ScoreDimension = std::optional<DimensionRange>;

struct AttentionOperand {
  Value value;
  SmallVector<ScoreDimension, 4> dimensions;
};

/// Larger scales are left where they are: the product of those of scores, queries and keys is finite in f32.
constexpr double kLargestScale = 1e12;

struct AttentionForm {
  /// The product of weights and values.
  linalg::LinalgOp last;
  /// Hold the nodes below: of the scores, and of what their product starts from.
  std::unique_ptr<ElementExpression> expression, start;
  /// The result's value is that of `last`.
  AttentionOperand q, k, v, result;
  /// The scores' dimensions: all but those of queries and keys, which are the last one.
  ArrayRef<int64_t> shape;
  unsigned rank, queries;
  SmallVector<unsigned, 2> heads;
  /// How product and scores differ in dimensions, or null. At `splitMap` is the scores' element in its result.
  tensor::ExpandShapeOp split;
  AffineMap splitMap;
  double scale;
  bool isCausal;
  /// 0: none.
  int64_t window;
  /// The mask; all may be null, and one of them is.
  const ElementNode *added;
  std::optional<MaskCondition> taken;
};

/// The attention whose last product `op` is. Where it is nearly that, `refusal` says what is in the way.
std::optional<AttentionForm> matchAttention(linalg::LinalgOp op, std::string &refusal);

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_ATTENTIONFORM_H
