// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "reference/RowStatistics.h"

#include "reference/Interpreter.h"
#include <algorithm>
#include <cmath>

using llvm::ArrayRef;
using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::reference;

namespace {

/// The power of two that keeps squares inside of the range of double. Rows of other types than f64 never need it. The
/// power that a subnormal row calls for would itself overflow; 2^1000 does as well.
double getRowScale(ArrayRef<double> row, double epsilon) {
  double largest = 0.0;
  for (double element : row)
    largest = std::max(largest, std::fabs(element));
  bool finite = std::isfinite(largest);
  bool tiny = epsilon == 0.0 && largest > 0.0 && largest < 0x1p-300;
  return finite && (largest > 0x1p500 || tiny) ? std::ldexp(1.0, std::min(-std::ilogb(largest), 1000)) : 1.0;
}

/// What stands in the root of a constant row with this value, from the definition: epsilon itself, or where the ordered
/// sum overflows in the arithmetic type, an epsilon·s² that is kept away from 0, divided by s².
double getConstantRowRoot(const StatisticsContext &context, double value, int64_t width) {
  FloatKind arithmetic = context.arithmetic;
  double epsilon = context.epsilon, root = std::sqrt(epsilon);
  double magnitude = std::fabs(value), sum = magnitude * 0x1p-64 * static_cast<double>(width);
  bool overflows = sum >= std::ldexp(1.0, (arithmetic == FloatKind::F64 ? 1024 : 128) - 64);
  if (!context.exact || !overflows)
    return root;
  double scale = std::ldexp(1.0, -std::ilogb(magnitude));
  double offset = roundTo(arithmetic, roundTo(arithmetic, epsilon * scale) * scale);
  return offset == 0.0 ? std::sqrt(smallestNormal(arithmetic)) / scale : root;
}

/// Whether what rounding leaves of a constant row's mean may overflow when it is squared. The definition then redoes
/// the row on a scale, on which epsilon may be replaced; which of the two happens, the last bit of the mean decides.
bool mayRescaleConstantRow(const StatisticsContext &context, double value) {
  return context.exact && std::fabs(value) >= std::ldexp(1.0, context.arithmetic == FloatKind::F64 ? 512 : 64);
}

} // namespace

RowStatistics reference::getLayerStatistics(const StatisticsContext &context, ArrayRef<double> row) {
  double epsilon = context.epsilon;
  RowStatistics statistics;
  double scale = statistics.scale = getRowScale(row, epsilon);
  double count = static_cast<double>(row.size());
  CompensatedSum sum;
  for (double element : row)
    sum.add(element * scale);
  double mean = sum.value() / count;
  // The remainder of the division, so that mean + rest is the mean in twice the precision.
  double rest = (std::fma(-mean, count, sum.high) + sum.low) / count;
  CompensatedSum squares;
  for (double element : row) {
    double deviation = (element * scale - mean) - rest;
    squares.add(deviation * deviation);
  }
  statistics.variance = squares.value() / count;
  statistics.rstd = 1.0 / std::sqrt(statistics.variance + epsilon * scale * scale);
  statistics.meanHigh = mean;
  statistics.meanLow = rest;
  // A constant row needs no scale, by which epsilon could underflow.
  if (!row.empty() && epsilon > 0.0 && std::isfinite(row[0]) && llvm::all_equal(row))
    return {row[0], 0.0, 1.0 / getConstantRowRoot(context, row[0], row.size()),
            1.0,    0.0, mayRescaleConstantRow(context, row[0])};
  return statistics;
}

RowStatistics reference::getRMSStatistics(const StatisticsContext &context, ArrayRef<double> row) {
  double epsilon = context.epsilon;
  RowStatistics statistics;
  double scale = statistics.scale = getRowScale(row, epsilon);
  CompensatedSum squares;
  for (double element : row)
    squares.add(element * scale * (element * scale));
  statistics.rstd = 1.0 / std::sqrt(squares.value() / static_cast<double>(row.size()) + epsilon * scale * scale);
  return statistics;
}

RowStatistics reference::getL2Statistics(const StatisticsContext &context, ArrayRef<double> row) {
  RowStatistics statistics;
  // An epsilon whose square is out of range hides nothing.
  double scale = statistics.scale = getRowScale(row, context.epsilon < 0x1p-500 ? 0.0 : context.epsilon);
  CompensatedSum squares;
  for (double element : row)
    squares.add(element * scale * (element * scale));
  double length = std::sqrt(squares.value()), least = context.epsilon * scale;
  statistics.rstd = 1.0 / (length < least ? least : length);
  return statistics;
}
