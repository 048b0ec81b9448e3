// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batch norm and its backward op in float64, with the bounds of the results.

#include "reference/Bounds.h"
#include "reference/ParameterGrad.h"

namespace mlir::resid::reference {

namespace {

/// What the columns of one batch norm have: rows, and parameters by which they are scaled; 1 and 0 where absent.
struct Columns {
  int64_t rows, width;
  FloatKind arithmetic;
  std::vector<double> mean, variance, gamma, beta;
  double epsilon;

  double getRstd(int64_t column) const { return 1.0 / std::sqrt(variance[column] + epsilon); }
};

LogicalResult fill(Operation *op, StringRef what, const Array &array, int64_t width, std::vector<double> &values) {
  if (!array)
    return success();
  if (array.size() != width)
    return op->emitOpError() << "expected " << what << " of " << width << " elements but got " << array.size();
  values.assign(array.floats().begin(), array.floats().end());
  return success();
}

Columns getColumns(const Array &x, double epsilon) {
  int64_t width = x.getShape().back(), rows = 1;
  for (int64_t size : x.getShape().drop_back())
    rows *= size;
  std::vector<double> zeros(width, 0.0), ones(width, 1.0);
  return {rows, width, getArithmeticKind(x.floatKind()), zeros, zeros, ones, zeros, epsilon};
}

} // namespace

/// The mean of a column is off by what a sum down the rows may be off, and by its rounding.
Interpreter::Results Interpreter::batchNorm(BatchNormOp op) {
  Array x = get(op.getX()), gamma = getOptional(op.getGamma()), beta = getOptional(op.getBeta());
  FloatKind arithmetic = getArithmeticKind(x.floatKind());
  Columns columns = getColumns(x, round(arithmetic, op.getEpsilon().convertToDouble()));
  bool isGiven = !op.getGiven().empty();
  SmallVector<Array> inputs{x, gamma, beta};
  if (failed(fill(op, "gamma", gamma, columns.width, columns.gamma)) ||
      failed(fill(op, "beta", beta, columns.width, columns.beta)))
    return failure();
  if (isGiven) {
    inputs.append({get(op.getGiven()[0]), get(op.getGiven()[1])});
    if (failed(fill(op, "mean", inputs[3], columns.width, columns.mean)) ||
        failed(fill(op, "variance", inputs[4], columns.width, columns.variance)))
      return failure();
  }
  // By how much the mean and the root of the variance may be off.
  std::vector<double> meanError(columns.width, 0.0), varianceError(columns.width, 0.0);
  for (int64_t column = 0; !isGiven && column != columns.width; ++column) {
    CompensatedSum sum, squares;
    double magnitude = 0.0, count = static_cast<double>(columns.rows);
    for (int64_t row = 0; row != columns.rows; ++row) {
      sum.add(x.floats()[row * columns.width + column]);
      magnitude += std::fabs(x.floats()[row * columns.width + column]);
    }
    double mean = columns.mean[column] = sum.value() / count;
    for (int64_t row = 0; row != columns.rows; ++row) {
      double d = x.floats()[row * columns.width + column] - mean;
      squares.add(d * d);
    }
    columns.variance[column] = squares.value() / count;
    meanError[column] = bounds::batchMean(arithmetic, mean, magnitude / count);
    varianceError[column] = bounds::batchVariance(arithmetic, columns.variance[column], meanError[column]);
  }

  Array y = Array::zeros(op.getResult().getType(), x.getShape());
  std::vector<double> allowed;
  for (int64_t i = 0, e = x.size(); i != e; ++i) {
    int64_t column = i % columns.width;
    double rstd = columns.getRstd(column), xhat = (x.floats()[i] - columns.mean[column]) * rstd;
    double product = xhat * columns.gamma[column], value = beta ? product + columns.beta[column] : product;
    y.mutableFloats()[i] = round(y.floatKind(), value);
    double off = rstd * meanError[column] + std::fabs(xhat) * 0.5 * varianceError[column] * rstd * rstd;
    bounds::Normalized normalized{value, xhat, columns.gamma[column], columns.beta[column]};
    allowed.push_back(bounds::batchNorm(arithmetic, y.floatKind(), normalized, off));
  }
  bool isTainted = isAnyTainted(inputs);
  judge(y, std::move(allowed), isTainted);
  SmallVector<Array> results{y};
  if (op.getStatistics().empty())
    return results;
  auto store = [&](Value result, ArrayRef<double> values, std::vector<double> errors) {
    Array statistic = Array::zeros(result.getType(), {columns.width});
    for (auto [stored, value] : llvm::zip_equal(statistic.mutableFloats(), values))
      stored = round(arithmetic, value);
    judge(statistic, std::move(errors), isTainted);
    results.push_back(statistic);
  };
  store(op.getStatistics()[0], columns.mean, std::move(meanError));
  store(op.getStatistics()[1], columns.variance, std::move(varianceError));
  return results;
}

Interpreter::Results Interpreter::batchNormGrad(BatchNormGradOp op) {
  Array dy = get(op.getDy()), x = get(op.getX()), dsum = getOptional(op.getDsum()), gamma = getOptional(op.getGamma());
  Array mean = get(op.getStatistics()[0]), variance = get(op.getStatistics()[1]);
  for (const Array &array : {dy, dsum})
    if (array && array.getShape() != x.getShape())
      return op->emitOpError() << "expected dy, x and sum of one shape but got " << describe(array) << " and "
                               << describe(x);
  FloatKind arithmetic = getArithmeticKind(x.floatKind());
  Columns columns = getColumns(x, round(arithmetic, op.getEpsilon().convertToDouble()));
  if (failed(fill(op, "gamma", gamma, columns.width, columns.gamma)) ||
      failed(fill(op, "mean", mean, columns.width, columns.mean)) ||
      failed(fill(op, "variance", variance, columns.width, columns.variance)))
    return failure();
  auto normalize = [&](int64_t i) {
    int64_t column = i % columns.width;
    return (x.floats()[i] - columns.mean[column]) * columns.getRstd(column);
  };
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
    double factor = columns.gamma[column] * columns.getRstd(column), addend = dsum ? dsum.floats()[i] : 0.0;
    // A sum that is not there must not turn -0 into +0.
    double value = dsum ? factor * u + addend : factor * u;
    dx.mutableFloats()[i] = round(dx.floatKind(), value);
    allowed.push_back(bounds::batchNormGrad(arithmetic, dx.floatKind(), value, factor * magnitude, addend));
  }
  bool isTainted = isAnyTainted({dy, x, dsum, gamma, mean, variance});
  judge(dx, std::move(allowed), isTainted);
  SmallVector<Array> results{dx};
  const ParameterTerms *allTerms[] = {&dgamma, &dbeta};
  for (auto [parameter, terms] : llvm::zip(op.getParameters(), allTerms))
    results.push_back(
        finishParameter(Array::zeros(parameter.getType(), {columns.width}), *terms, arithmetic, isTainted));
  return results;
}

} // namespace mlir::resid::reference
