// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps on scalars that statistics of rows and those of columns have in common. Not: the sums between them, which
// go along a row (Statistics.cpp) or down the rows (codegen/linalg/BatchNorm.cpp).

#ifndef RESID_CODEGEN_ROWS_STATISTICSARITHMETIC_H
#define RESID_CODEGEN_ROWS_STATISTICSARITHMETIC_H

#include "codegen/builder/Code.h"
#include "llvm/ADT/APFloat.h"
#include <limits>

namespace mlir::resid::rows {

/// Builds scalars of the arithmetic type, to which epsilon is rounded once.
class StatisticsArithmetic {
public:
  StatisticsArithmetic(FloatType type, const APFloat &epsilon);

  FloatType getType() const { return type; }
  /// Whether a value, or each of several, is neither infinite nor NaN.
  Value isFinite(Code &builder, ValueRange values) const;
  /// Whether statistics have to be redone on a scaled copy: a mean is not finite, or, without an epsilon to hide it,
  /// squares are so small that their sum has lost its bits. The mean square, or their sum, is the last of `means`. An
  /// epsilon of `leastEpsilon` or more hides it.
  Value needsScale(Code &builder, ValueRange means,
                   double leastEpsilon = std::numeric_limits<double>::denorm_min()) const;
  /// The power of two that brings `size` (finite, ≥ 0) into [1, 2).
  Value createPowerOfTwo(Code &builder, Value size) const;
  /// Whether var = fma(-e, e, q) keeps its bits: q is finite, and e² ≤ q/4.
  Value isDirect(Code &builder, Value e, Value q) const;
  Value createDirectVariance(Code &builder, Value e, Value q) const;
  /// 1/sqrt(variance + epsilon·scale²), where the smallest normal number stands in for an epsilon·scale² that
  /// underflows: constant elements of huge values must give β, and 0·(1/0) is NaN.
  Value createReciprocalRoot(Code &builder, Value variance, Value scale) const;
  /// 1/max(sqrt(squares), epsilon·scale). A NaN stays one.
  Value createReciprocalLength(Code &builder, Value squares, Value scale) const;
  /// Mean, mean_correction and rstd of x itself, where k, e and rstd are those of x·scale. Dividing by a power of two,
  /// and multiplying by 1, changes no bit of a result that the type can hold.
  SmallVector<Value> createStored(Code &builder, Value scale, Value k, Value e, Value rstd) const;

private:
  FloatType type;
  APFloat epsilon;
};

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_STATISTICSARITHMETIC_H
