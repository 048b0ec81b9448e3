// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a norm is, whether it is an op of its own, the end of an add_norm or a clause of a block, and what follows from
// its kind. The one place that says so: verifiers, passes, lowerings, the evaluator and pictures ask here.

#ifndef RESID_DIALECT_NORMKINDS_H
#define RESID_DIALECT_NORMKINDS_H

#include "dialect/ResidEnums.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace mlir::resid {

class NormAttr;

/// A norm with its operands and attributes; those that it does not have are null.
struct NormParts {
  NormKind kind;
  /// What is normalised; null for a norm of a block.
  Value x;
  Value alpha, gamma, beta;
  FloatAttr epsilon;
  /// How many dimensions are normalised where no gamma says it, else 1.
  IntegerAttr normRank;
  IntegerAttr groups;
  bool zeroCenteredGamma, narrowAffine;
  /// How many trailing dimensions are normalised.
  int64_t rank;

  /// How many trailing dimensions gamma has, groups counted apart: as many as are normalised, or more.
  int64_t getParameterRank() const;
  /// Whether they are more, so that rows of one x have gammas of their own. No clause of a block states such a norm.
  bool hasWiderGamma() const { return gamma && !groups && getParameterRank() > rank; }
  /// How many groups of columns are normalised, each by itself.
  int64_t getGroupCount() const { return groups ? groups.getInt() : 1; }
  /// The type of each statistic of the norm of a value of type `x`.
  RankedTensorType getStatisticsType(RankedTensorType x) const;
  /// The parameters that the norm has, in the order of operands.
  SmallVector<Value> getParameters() const;
  /// This norm with other operands: each operand that is in `from` becomes its counterpart in `to`.
  NormParts withOperands(ValueRange from, ValueRange to) const;
  /// Whether this is the same norm, of whatever value: the same operands and the same attributes.
  bool isSameNorm(const NormParts &other) const;
};

/// A parameter of norms: its name in programs, and where a norm has it.
struct NormParameter {
  StringLiteral name;
  Value NormParts::*value;
};

/// All of them, in the order of operands.
inline constexpr NormParameter normParameters[] = {
    {"alpha", &NormParts::alpha}, {"gamma", &NormParts::gamma}, {"beta", &NormParts::beta}};

/// What an op can tell about each row beside the normalised value.
enum class NormStatistic { Mean, MeanCorrection, Rstd };

/// The name of the result.
StringRef stringifyNormStatistic(NormStatistic statistic);

/// What takes up a positive factor a on x.
enum class NormFactor {
  Alpha,         ///< N(a·x) is N(x) with alpha·a in place of alpha.
  Epsilon,       ///< N(a·x) is N(x) with epsilon/a in place of epsilon.
  SquaredEpsilon ///< N(a·x) is N(x) with epsilon/a² in place of epsilon.
};

/// One line of the table of norm kinds.
struct NormRule {
  NormKind kind;
  /// The name in prose and pictures.
  StringLiteral title;
  /// Whether alpha is an operand, epsilon and groups are attributes; a norm has them exactly then.
  bool hasAlpha, hasEpsilon, hasGroups;
  /// The statistics of the op in the order of its results. Without any, each element is normalised by itself.
  ArrayRef<NormStatistic> statistics;
  NormFactor factor;
  /// Whether rows of any mean have mean 0 before gamma and beta are applied.
  bool centersRows;
  /// The kind that gives the same on rows of mean 0 and takes no mean, if this one takes it.
  std::optional<NormKind> onCenteredRows;
  /// Makes the op of `parts`, which normalises parts.x.
  Operation *(*create)(OpBuilder &builder, Location loc, const NormParts &parts, Type normalized, TypeRange statistics);

  bool isElementwise() const { return statistics.empty(); }
  /// Whether epsilon is the least length of a row, over which sums are taken and no means, and not an addend.
  bool hasLength() const { return factor == NormFactor::Epsilon; }
};

/// The rule of a kind.
const NormRule &getNormRule(NormKind kind);

/// The parts of `op` if it is a norm.
std::optional<NormParts> getNormParts(Operation *op);

/// The norm as a clause of a block states it.
NormAttr getNormAttr(MLIRContext *context, const NormParts &parts);

/// Makes a norm of `x`; `parts.x` and `parts.rank` are not used. Results: the normalised value, then the statistics.
Operation *createNorm(OpBuilder &builder, Location loc, const NormParts &parts, Value x, Type normalized,
                      TypeRange statistics = {});

} // namespace mlir::resid

#endif // RESID_DIALECT_NORMKINDS_H
