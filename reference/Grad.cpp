// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Grad in float64, with the bounds of the results.

#include "dialect/NormGrad.h"
#include "reference/Bounds.h"
#include "reference/ParameterGrad.h"

namespace mlir::resid::reference {

namespace {

/// One backward of a norm: its arrays, and what does not change from row to row.
struct NormGradContext {
  Array dy, x, dsum, gammaArray;
  SmallVector<Array> statistics;
  /// γ' for each column; 1 where there is no gamma.
  std::vector<double> gamma;
  bool centers = false;
  /// Of an L2 norm: sums take the place of means, and none is subtracted where the statistic is not below this.
  std::optional<double> greatestReciprocal = {};
  /// A group of columns is a row of its own, of so many columns. There are so many groups before gamma starts again.
  int64_t rows = 1, width = 1, groups = 1;

  int64_t getColumns() const { return width * groups; }
};

LogicalResult checkShapes(Operation *op, const NormGradContext &context, const NormGradParts &parts) {
  ArrayRef<int64_t> shape = context.x.getShape();
  SmallVector<int64_t> rows(shape.drop_back(parts.rank));
  if (parts.groups)
    rows.push_back(parts.getGroupCount());
  for (const Array &array : {context.dy, context.dsum})
    if (array && array.getShape() != shape)
      return op->emitOpError() << "expected dy, x and sum of one shape but got " << describe(array) << " and "
                               << describe(context.x);
  for (const Array &statistic : context.statistics)
    if (statistic.getShape() != ArrayRef(rows))
      return op->emitOpError() << "expected statistics with an element for each row of " << describe(context.x)
                               << " but got " << describe(statistic);
  if (context.gammaArray && context.gammaArray.getShape() != shape.take_back(parts.getParameterRank()))
    return op->emitOpError() << "expected gamma of " << context.getColumns() << " elements but got "
                             << context.gammaArray.size();
  return success();
}

/// The normalised value, and by how much larger numbers it was made of: what a mean takes away may cancel.
struct NormalizedElement {
  double value, magnitude;
};

NormalizedElement normalize(const NormGradContext &context, int64_t row, double element) {
  double rstd = context.statistics.back().floats()[row];
  double value = element, magnitude = 0.0;
  for (const Array &mean : ArrayRef(context.statistics).drop_back()) {
    value -= mean.floats()[row];
    magnitude = std::max(magnitude, std::fabs(value));
  }
  return {value * rstd, std::max(magnitude, std::fabs(value)) * std::fabs(rstd)};
}

/// What the gradient of a row's elements is made of besides the elements.
struct RowMeans {
  double product, scaled;
  /// The largest |g|, and the mean magnitude of x̂.
  double largest, normalized;
};

RowMeans getMeans(const NormGradContext &context, int64_t row) {
  CompensatedSum products, scaled, magnitudes;
  double largest = 0.0;
  for (int64_t i = 0; i != context.width; ++i) {
    double g = context.dy.floats()[row * context.width + i] * context.gamma[row % context.groups * context.width + i];
    NormalizedElement xhat = normalize(context, row, context.x.floats()[row * context.width + i]);
    products.add(g * xhat.value);
    scaled.add(g);
    magnitudes.add(xhat.magnitude);
    largest = std::max(largest, std::fabs(g));
  }
  double count = context.greatestReciprocal ? 1.0 : static_cast<double>(context.width);
  if (context.greatestReciprocal && !(context.statistics.back().floats()[row] < *context.greatestReciprocal))
    return {0.0, 0.0, largest, 0.0};
  return {products.value() / count, context.centers ? scaled.value() / count : 0.0, largest,
          magnitudes.value() / count};
}

/// dx, its bounds, and what the parameters sum up.
struct NormGradients {
  explicit NormGradients(int64_t columns) : dgamma(columns), dbeta(columns) {}
  std::vector<double> dx, bounds;
  ParameterTerms dgamma, dbeta;
};

void differentiateRow(const NormGradContext &context, int64_t row, FloatKind arithmetic, FloatKind stored,
                      NormGradients &gradients) {
  RowMeans means = getMeans(context, row);
  double rstd = context.statistics.back().floats()[row];
  for (int64_t i = 0; i != context.width; ++i) {
    int64_t place = row * context.width + i, column = row % context.groups * context.width + i;
    double dy = context.dy.floats()[place], dsum = context.dsum ? context.dsum.floats()[place] : 0.0;
    NormalizedElement xhat = normalize(context, row, context.x.floats()[place]);
    double u = rstd * (dy * context.gamma[column] - means.scaled - xhat.value * means.product);
    // A sum that is not there must not turn -0 into +0.
    double value = context.dsum ? u + dsum : u;
    gradients.dx.push_back(value);
    gradients.bounds.push_back(
        bounds::normGrad(arithmetic, stored, {value, rstd, means.largest, xhat.magnitude, means.normalized, dsum}));
    gradients.dgamma.add(column, dy * xhat.value);
    gradients.dbeta.add(column, dy);
  }
}

} // namespace

void Interpreter::judge(Array &result, std::vector<double> allowed, bool isTainted) const {
  if (isTainted)
    result.setAccuracy(getToleranceAccuracy());
  else if (options.trackAccuracy)
    result.setAccuracy(std::make_shared<const Accuracy>(Accuracy{Accuracy::Bounded, std::move(allowed)}));
}

Array Interpreter::finishParameter(Array parameter, const ParameterTerms &terms, FloatKind arithmetic,
                                   bool isTainted) const {
  std::vector<double> allowed;
  FloatKind stored = parameter.floatKind();
  for (auto [value, total, magnitude] : llvm::zip_equal(parameter.mutableFloats(), terms.sums, terms.magnitudes)) {
    allowed.push_back(bounds::parameterGrad(arithmetic, stored, total.value(), magnitude));
    value = round(stored, round(arithmetic, total.value()));
  }
  judge(parameter, std::move(allowed), isTainted);
  return parameter;
}

Interpreter::Results Interpreter::normGrad(Operation *op, const NormGradParts &parts) {
  NormGradContext context{get(parts.dy), get(parts.x), getOptional(parts.dsum), getOptional(parts.gamma), {}, {}};
  for (Value statistic : parts.statistics)
    context.statistics.push_back(get(statistic));
  context.centers = getNormRule(parts.kind).centersRows;
  if (FloatKind kind = getArithmeticKind(context.x.floatKind()); parts.epsilon)
    context.greatestReciprocal = round(kind, 1.0 / round(kind, parts.epsilon.getValueAsDouble()));
  context.groups = parts.getGroupCount();
  int64_t columns = 1;
  for (int64_t size : context.x.getShape().take_back(parts.rank))
    columns *= size;
  if (columns % context.groups != 0)
    return op->emitOpError() << "expected a number of groups that divides " << columns << " but got " << context.groups;
  context.width = columns / context.groups;
  context.rows = context.groups;
  for (int64_t size : context.x.getShape().drop_back(parts.rank))
    context.rows *= size;
  // A gamma of more dimensions than are normalised has groups of so many rows.
  for (int64_t size : context.x.getShape().drop_back(parts.rank).take_back(parts.getParameterRank() - parts.rank)) {
    context.groups *= size;
    columns *= size;
  }
  if (failed(checkShapes(op, context, parts)))
    return failure();
  FloatKind arithmetic = getArithmeticKind(context.x.floatKind());
  context.gamma.assign(columns, 1.0);
  for (int64_t i = 0; parts.gamma && i != columns; ++i) {
    double gamma = context.gammaArray.floats()[i];
    context.gamma[i] = parts.zeroCenteredGamma ? round(arithmetic, 1.0 + gamma) : gamma;
  }

  Array dx = Array::zeros(op->getResult(0).getType(), context.x.getShape());
  NormGradients gradients(columns);
  for (int64_t row = 0; row != context.rows; ++row)
    differentiateRow(context, row, arithmetic, dx.floatKind(), gradients);
  for (auto [stored, value] : llvm::zip_equal(dx.mutableFloats(), gradients.dx))
    stored = round(dx.floatKind(), value);

  bool isTainted =
      isAnyTainted({context.dy, context.x, context.dsum, context.gammaArray}) || isAnyTainted(context.statistics);
  judge(dx, std::move(gradients.bounds), isTainted);
  SmallVector<Array> results{dx};
  for (const ParameterTerms *terms : {&gradients.dgamma, &gradients.dbeta}) {
    if (results.size() == op->getNumResults())
      break;
    Array sum = Array::zeros(op->getResult(results.size()).getType(), context.gammaArray.getShape());
    results.push_back(finishParameter(sum, *terms, arithmetic, isTainted));
  }
  return results;
}

} // namespace mlir::resid::reference
