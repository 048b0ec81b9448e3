// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batch norm and its backward op in float64, with the bounds of the results.

#include "reference/Bounds.h"
#include "reference/ParameterGrad.h"
#include "reference/RowStatistics.h"
#include <limits>

namespace mlir::resid::reference {

namespace {

/// What the columns of one batch norm have: rows, and numbers by which they are normalised and scaled; γ and β are 1
/// and 0 where absent.
struct Columns {
  int64_t rows, width;
  StatisticsContext context;
  std::vector<RowStatistics> statistics;
  std::vector<double> gamma, beta;
};

LogicalResult fill(Operation *op, StringRef what, const Array &array, int64_t width, std::vector<double> &values) {
  if (!array)
    return success();
  if (array.size() != width)
    return op->emitOpError() << "expected " << what << " of " << width << " elements but got " << array.size();
  values.assign(array.floats().begin(), array.floats().end());
  return success();
}

Columns getColumns(const Array &x, double epsilon, bool exact) {
  int64_t width = x.getShape().back(), rows = 1;
  for (int64_t size : x.getShape().drop_back())
    rows *= size;
  FloatKind arithmetic = getArithmeticKind(x.floatKind());
  epsilon = exact ? roundTo(arithmetic, epsilon) : epsilon;
  return {
      rows, width, {arithmetic, exact, epsilon}, {}, std::vector<double>(width, 1.0), std::vector<double>(width, 0.0)};
}

/// Statistics that are handed in: mean and variance, or mean, mean_correction and rstd.
LogicalResult fillGiven(Operation *op, ArrayRef<Array> given, Columns &columns) {
  columns.statistics.resize(columns.width);
  std::vector<std::vector<double>> values(given.size());
  for (auto [array, numbers] : llvm::zip_equal(given, values))
    if (failed(fill(op, "a statistic", array, columns.width, numbers)))
      return failure();
  for (auto [column, statistics] : llvm::enumerate(columns.statistics)) {
    statistics.meanHigh = values[0][column];
    statistics.meanLow = given.size() == 2 ? 0.0 : values[1][column];
    double last = values.back()[column];
    statistics.rstd = given.size() == 2 ? 1.0 / std::sqrt(last + columns.context.epsilon) : last;
  }
  return success();
}

void fillFromRows(const Array &x, Columns &columns) {
  std::vector<double> elements(columns.rows);
  for (int64_t column = 0; column != columns.width; ++column) {
    for (int64_t row = 0; row != columns.rows; ++row)
      elements[row] = x.floats()[row * columns.width + column];
    columns.statistics.push_back(getLayerStatistics(columns.context, elements));
  }
}

/// One of the statistics of the batch as it is stored, and its bound.
std::pair<double, double> getStored(const Columns &columns, const RowStatistics &statistics, unsigned which) {
  const StatisticsContext &context = columns.context;
  FloatKind kind = context.arithmetic;
  double mean = context.round(kind, statistics.getMean()), rstd = statistics.getRstd();
  double variance = statistics.getVariance(), infinity = std::numeric_limits<double>::infinity();
  switch (which) {
  case 0:
    return {mean, bounds::batchMean(kind, mean, rstd)};
  case 1:
    return {context.round(kind, variance), bounds::batchVariance(kind, variance)};
  case 2:
    return {context.round(kind, statistics.getCorrection(mean)), bounds::batchMean(kind, mean, rstd)};
  default:
    return {context.round(kind, rstd), statistics.isRootOpen ? infinity : bounds::batchRstd(kind, rstd)};
  }
}

} // namespace

Interpreter::Results Interpreter::evaluate(BatchNormOp op) {
  Array x = get(op.getX()), gamma = getOptional(op.getGamma()), beta = getOptional(op.getBeta());
  Columns columns = getColumns(x, op.getEpsilon().convertToDouble(), isExactMode());
  SmallVector<Array> inputs{x, gamma, beta}, given;
  if (failed(fill(op, "gamma", gamma, columns.width, columns.gamma)) ||
      failed(fill(op, "beta", beta, columns.width, columns.beta)))
    return failure();
  for (Value statistic : op.getGiven())
    given.push_back(get(statistic));
  if (given.empty())
    fillFromRows(x, columns);
  else if (failed(fillGiven(op, given, columns)))
    return failure();
  llvm::append_range(inputs, given);
  FloatKind arithmetic = columns.context.arithmetic;
  Array y = Array::zeros(op.getResult().getType(), x.getShape());
  std::vector<double> allowed;
  for (int64_t i = 0, e = x.size(); i != e; ++i) {
    int64_t column = i % columns.width;
    double xhat = columns.statistics[column].normalize(x.floats()[i]);
    double product = xhat * columns.gamma[column], value = beta ? product + columns.beta[column] : product;
    y.mutableFloats()[i] = round(y.floatKind(), value);
    bounds::Normalized normalized{value, xhat, columns.gamma[column], columns.beta[column]};
    allowed.push_back(bounds::batchNorm(arithmetic, y.floatKind(), normalized, /*isFixed=*/!given.empty()));
  }
  bool isTainted = isAnyTainted(inputs);
  judge(y, std::move(allowed), isTainted);
  SmallVector<Array> results{y};
  for (auto [which, result] : llvm::enumerate(op.getStatistics())) {
    Array statistic = Array::zeros(result.getType(), {columns.width});
    std::vector<double> errors;
    for (auto [stored, statistics] : llvm::zip_equal(statistic.mutableFloats(), columns.statistics)) {
      std::pair<double, double> judged = getStored(columns, statistics, which);
      stored = judged.first;
      errors.push_back(judged.second);
    }
    judge(statistic, std::move(errors), isTainted);
    results.push_back(statistic);
  }
  return results;
}

Interpreter::Results Interpreter::evaluate(BatchNormGradOp op) {
  Array dy = get(op.getDy()), x = get(op.getX()), dsum = getOptional(op.getDsum()), gamma = getOptional(op.getGamma());
  SmallVector<Array> given, inputs{dy, x, dsum, gamma};
  for (Value statistic : op.getStatistics())
    given.push_back(get(statistic));
  llvm::append_range(inputs, given);
  for (const Array &array : {dy, dsum})
    if (array && array.getShape() != x.getShape())
      return op->emitOpError() << "expected dy, x and sum of one shape but got " << describe(array) << " and "
                               << describe(x);
  Columns columns = getColumns(x, op.getEpsilon().convertToDouble(), isExactMode());
  FloatKind arithmetic = columns.context.arithmetic;
  if (failed(fill(op, "gamma", gamma, columns.width, columns.gamma)) || failed(fillGiven(op, given, columns)))
    return failure();
  auto normalize = [&](int64_t i) { return columns.statistics[i % columns.width].normalize(x.floats()[i]); };
  ParameterTerms dgamma(columns.width), dbeta(columns.width);
  for (int64_t i = 0, e = x.size(); i != e; ++i) {
    dgamma.add(i % columns.width, dy.floats()[i] * normalize(i));
    dbeta.add(i % columns.width, dy.floats()[i]);
  }
  Array dx = Array::zeros(op.getDx().getType(), x.getShape());
  std::vector<double> allowed;
  for (int64_t i = 0, e = x.size(); i != e; ++i) {
    int64_t column = i % columns.width;
    double count = static_cast<double>(columns.rows), xhat = normalize(i), u = dy.floats()[i], magnitude = std::fabs(u);
    if (!op.getFixedStatistics()) {
      u = (u - dbeta.sums[column].value() / count) - xhat * (dgamma.sums[column].value() / count);
      magnitude += (dbeta.magnitudes[column] + std::fabs(xhat) * dgamma.magnitudes[column]) / count;
    }
    double factor = columns.gamma[column] * columns.statistics[column].rstd, addend = dsum ? dsum.floats()[i] : 0.0;
    // A sum that is not there must not turn -0 into +0.
    double value = dsum ? factor * u + addend : factor * u;
    dx.mutableFloats()[i] = round(dx.floatKind(), value);
    allowed.push_back(bounds::batchNormGrad(arithmetic, dx.floatKind(), value, factor * magnitude, addend));
  }
  bool isTainted = isAnyTainted(inputs);
  judge(dx, std::move(allowed), isTainted);
  SmallVector<Array> results{dx};
  const ParameterTerms *allTerms[] = {&dgamma, &dbeta};
  for (auto [parameter, terms] : llvm::zip(op.getParameters(), allTerms))
    results.push_back(
        finishParameter(Array::zeros(parameter.getType(), {columns.width}), *terms, arithmetic, isTainted));
  return results;
}

} // namespace mlir::resid::reference
