// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statistics of numbers in float64: of the elements of a row for a norm, of those of a column for a batch norm.
// Internal to the evaluator. Not: what is normalised with them.

#ifndef RESID_REFERENCE_ROWSTATISTICS_H
#define RESID_REFERENCE_ROWSTATISTICS_H

#include "reference/Numbers.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::resid::reference {

/// Whose statistics: what is known of the norm.
struct StatisticsContext {
  FloatKind arithmetic;
  bool exact;
  double epsilon;

  double round(FloatKind kind, double value) const { return exact ? roundTo(kind, value) : value; }
};

/// Of one row as it stands (not of its scaled copy).
struct RowStatistics {
  /// The mean as an unevaluated sum; 0 for RMS norm.
  double meanHigh = 0.0, meanLow = 0.0;
  double rstd = 0.0;
  /// Elements times `scale` are normalised; rstd and the variance belong to them.
  double scale = 1.0;
  double variance = 0.0;
  /// Whether rstd hangs on how the definition's mean rounds, so that no bound holds for it.
  bool isRootOpen = false;

  double normalize(double element) const { return ((element * scale - meanHigh) - meanLow) * rstd; }
  double getMean() const { return meanHigh / scale + meanLow / scale; }
  /// What rounding took from a mean that is stored so.
  double getCorrection(double stored) const { return (meanHigh / scale - stored) + meanLow / scale; }
  double getVariance() const { return variance / scale / scale; }
  double getRstd() const { return rstd * scale; }
};

RowStatistics getLayerStatistics(const StatisticsContext &context, llvm::ArrayRef<double> row);
/// The length takes the place of the root mean square.
RowStatistics getL2Statistics(const StatisticsContext &context, llvm::ArrayRef<double> row);
RowStatistics getRMSStatistics(const StatisticsContext &context, llvm::ArrayRef<double> row);

} // namespace mlir::resid::reference

#endif
