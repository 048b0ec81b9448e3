// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The three norm ops seen as one: what they have in common, and how to make one. Knows nothing of chains or blocks.

#ifndef RESID_PASSES_NORMPARTS_H
#define RESID_PASSES_NORMPARTS_H

#include "dialect/ResidDialect.h"
#include <optional>

namespace mlir::resid {

/// What the three norm ops have in common; absent operands are null.
struct NormParts {
  NormKind kind;
  Value x, alpha, gamma, beta;
  FloatAttr epsilon;
  IntegerAttr normRank;
  bool zeroCenteredGamma, narrowAffine;
  /// How many trailing dimensions are normalised.
  int64_t rank;
};

/// The parts of `op` if it is a layer norm, an RMS norm or a dynamic tanh.
std::optional<NormParts> getNormParts(Operation *op);

/// Makes a norm of `x`; `parts.x` and `parts.rank` are not used. Results: the normalised value, then the statistics.
Operation *createNorm(OpBuilder &builder, Location loc, const NormParts &parts, Value x, Type normalized,
                      TypeRange statistics = {});

} // namespace mlir::resid

#endif // RESID_PASSES_NORMPARTS_H
