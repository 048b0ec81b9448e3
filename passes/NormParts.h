// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms seen as one thing, whether they are ops or stand in a block: what they have in common, how to make one, how to
// put them into a block. Knows nothing of chains and stacks.

#ifndef RESID_PASSES_NORMPARTS_H
#define RESID_PASSES_NORMPARTS_H

#include "dialect/Placement.h"
#include <optional>

namespace mlir::resid {

/// What the three norm ops and the norms of a block have in common; absent operands are null.
struct NormParts {
  NormKind kind;
  Value x, alpha, gamma, beta;
  FloatAttr epsilon;
  IntegerAttr normRank;
  bool zeroCenteredGamma, narrowAffine;
  /// How many trailing dimensions are normalised.
  int64_t rank;

  /// alpha, gamma and beta, those that there are.
  SmallVector<Value> getParameters() const;
  /// The same norm with other parameters, in the order of getParameters.
  NormParts withParameters(ValueRange parameters) const;
  /// Whether this is the same norm, of whatever value: the same operands and the same attributes.
  bool isSameNorm(const NormParts &other) const;
};

/// The parts of `op` if it is a layer norm, an RMS norm or a dynamic tanh.
std::optional<NormParts> getNormParts(Operation *op);

/// The norms of `block` in the order of its clauses, without x.
SmallVector<NormParts> getBlockNorms(BlockOp block);

/// Gives `block` another placement and the norms of that, in order. Where no norm stands right before the branch any
/// more, an input narrower than the stream is made by arith.truncf. narrow_affine holds for the whole block: norms with
/// a gamma agree on it.
void setNorms(BlockOp block, Placement placement, ArrayRef<NormParts> norms);

/// Makes a norm of `x`; `parts.x` and `parts.rank` are not used. Results: the normalised value, then the statistics.
Operation *createNorm(OpBuilder &builder, Location loc, const NormParts &parts, Value x, Type normalized,
                      TypeRange statistics = {});

} // namespace mlir::resid

#endif // RESID_PASSES_NORMPARTS_H
