// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A softmax that is written out, and what it is taken of: a product times a number, with masks. Looks at expressions
// only. Not: which product (AttentionForm.h).

#ifndef RESID_PASSES_RAISE_SOFTMAX_H
#define RESID_PASSES_RAISE_SOFTMAX_H

#include "passes/raise/ElementExpression.h"
#include <string>

namespace mlir::resid {

struct SoftmaxForm {
  /// The expression that `scores` is a node of.
  std::unique_ptr<ElementExpression> expression;
  const ElementNode *scores;
  /// Whether it is over the last dimension of the tensor, or over another one.
  bool isOverLast;
};

/// A condition: whether an element takes part, or does not.
struct MaskCondition {
  const ElementNode *node;
  bool isNegated;
};

/// scale·product + added, and -Inf where a condition does not hold.
struct ScoreForm {
  /// An element of a tensor that `ScoreForm`'s maker took for a product.
  const ElementNode *product = nullptr;
  double scale = 1.0;
  /// May be null.
  const ElementNode *added = nullptr;
  SmallVector<MaskCondition, 2> conditions;
};

/// The softmax that `weights`, a ranked tensor, is.
std::optional<SoftmaxForm> matchSoftmax(Value weights);

/// What the scores are. `refusal` says what they have that attention has not, if they hold a product.
std::optional<ScoreForm> matchScores(const ElementNode *scores, function_ref<bool(const ElementNode *)> isProduct,
                                     std::string &refusal);

/// Adds what is added to scores that are scaled already. A choice of 0 and -Inf is a condition.
bool addMask(ScoreForm &form, const ElementNode *mask, std::string &refusal);

/// Whether what the node is computed from, or the node itself, has one that `predicate` likes.
bool anyNode(const ElementNode *node, function_ref<bool(const ElementNode *)> predicate);

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_SOFTMAX_H
