// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the backward op of a norm says, of whatever kind the norm is: the lowering and the evaluator ask here. Does not
// own what a kind of norm means (NormKinds.h).

#ifndef RESID_DIALECT_NORMGRAD_H
#define RESID_DIALECT_NORMGRAD_H

#include "dialect/NormKinds.h"

namespace mlir::resid {

/// The backward of a norm with its operands; those that it does not have are null.
struct NormGradParts {
  NormKind kind;
  Value dy, x;
  /// Those of the kind, in the order of its rule.
  SmallVector<Value> statistics;
  Value gamma, dsum;
  bool zeroCenteredGamma;
  /// How many trailing dimensions are normalised.
  int64_t rank;
  /// Of a group norm.
  IntegerAttr groups;
  /// Of an L2 norm.
  FloatAttr epsilon;

  /// How many trailing dimensions gamma has: as many as are normalised, or more.
  int64_t getParameterRank() const;
  /// How many groups of columns are normalised, each by itself.
  int64_t getGroupCount() const { return groups ? groups.getInt() : 1; }
  /// The type of each statistic of the norm.
  RankedTensorType getStatisticsType() const;
  /// This backward with other operands: each operand that is in `from` becomes its counterpart in `to`.
  NormGradParts withOperands(ValueRange from, ValueRange to) const;
};

/// The parts of `op` if it is the backward of a norm.
std::optional<NormGradParts> getNormGradParts(Operation *op);

/// 1/epsilon in the arithmetic type: the statistic of an L2 norm in a row that is no longer than epsilon, where the
/// length has no gradient.
APFloat getStatisticOfShortRows(FloatAttr epsilon, FloatType arithmetic);

/// Makes the backward op. Results: dx, then dgamma and dbeta of `parameters` if there is a gamma. Null where the kind
/// has none.
Operation *createNormGrad(OpBuilder &builder, Location loc, const NormGradParts &parts, TypeRange parameters);

} // namespace mlir::resid

#endif // RESID_DIALECT_NORMGRAD_H
