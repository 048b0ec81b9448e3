// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Norm in float64, with the bounds of the results: one entry per kind says how it is evaluated.

#include "reference/Bounds.h"
#include "reference/Interpreter.h"
#include "reference/RowStatistics.h"
#include <limits>

namespace mlir::resid::reference {

namespace {

/// How norms of one kind are evaluated.
struct Evaluation {
  RowStatistics (*getStatistics)(const StatisticsContext &context, ArrayRef<double> row);
  /// The normalised value of an element, before γ and β.
  double (*normalize)(double element, const RowStatistics &statistics, double alpha);
  double (*bound)(FloatKind arithmetic, FloatKind result, bool narrowAffine, const bounds::Normalized &normalized);
};

/// Everything about one norm that does not change from row to row.
struct NormContext : StatisticsContext {
  Evaluation evaluation;
  FloatKind result;
  bool track, narrowAffine;
  double alpha;
  /// γ (γ' = 1+γ where zero-centred) and β for each column; 1 and 0 where absent.
  std::vector<double> gamma, beta;
};

/// Nothing, where a row has no statistics.
RowStatistics getNoStatistics(const StatisticsContext &, ArrayRef<double>) { return {}; }

double standardize(double element, const RowStatistics &statistics, double) { return statistics.normalize(element); }

double squash(double element, const RowStatistics &, double alpha) { return std::tanh(alpha * element); }

Evaluation getEvaluation(NormKind kind) {
  switch (kind) {
  case NormKind::Layer:
    return {getLayerStatistics, standardize, bounds::norm};
  case NormKind::RMS:
    return {getRMSStatistics, standardize, bounds::norm};
  case NormKind::L2:
    return {getL2Statistics, standardize, bounds::norm};
  case NormKind::Group:
    // Its rows are the groups.
    return {getLayerStatistics, standardize, bounds::norm};
  case NormKind::DyT:
    return {getNoStatistics, squash, bounds::dyt};
  }
  llvm_unreachable("a norm kind without an evaluation");
}

struct RowOutputs {
  double *value, *bound;
};

/// Normalises the elements of a row, or of a group of one, whose first column is `first`.
void normalizeRow(const NormContext &context, ArrayRef<double> row, int64_t first, const RowStatistics &statistics,
                  RowOutputs out) {
  for (size_t i = 0, e = row.size(); i != e; ++i) {
    double gamma = context.gamma[first + i], beta = context.beta.empty() ? 0.0 : context.beta[first + i];
    double xhat = context.evaluation.normalize(row[i], statistics, context.alpha);
    if (context.narrowAffine)
      xhat = context.round(context.result, xhat);
    // β = 0 must not turn a product of -0 into +0.
    double product = xhat * gamma;
    double value = context.beta.empty() ? product : product + beta;
    out.value[i] = context.round(context.result, value);
    if (!context.track)
      continue;
    bounds::Normalized normalized{value, xhat, gamma, beta};
    out.bound[i] = context.evaluation.bound(context.arithmetic, context.result, context.narrowAffine, normalized);
  }
}

/// One of the statistics as it is stored, and its bound.
struct StoredStatistic {
  double value, bound;
};

StoredStatistic getStatistic(const NormContext &context, const RowStatistics &statistics, NormStatistic which) {
  FloatKind kind = context.arithmetic;
  double rstd = statistics.getRstd(), mean = context.round(kind, statistics.getMean());
  switch (which) {
  case NormStatistic::Mean:
    return {mean, bounds::mean(kind, mean, rstd)};
  case NormStatistic::MeanCorrection:
    return {context.round(kind, statistics.getCorrection(mean)), bounds::mean(kind, mean, rstd)};
  case NormStatistic::Rstd:
    return {context.round(kind, rstd),
            statistics.isRootOpen ? std::numeric_limits<double>::infinity() : bounds::rstd(kind, rstd)};
  }
  llvm_unreachable("a statistic without a value");
}

LogicalResult fillParameters(Operation *op, const Array &gamma, const Array &beta, bool zeroCenteredGamma,
                             int64_t width, NormContext &context) {
  context.gamma.assign(width, 1.0);
  if (gamma) {
    if (gamma.size() != width)
      return op->emitOpError() << "expected gamma of " << width << " elements but got " << gamma.size();
    for (int64_t i = 0; i != width; ++i)
      context.gamma[i] =
          zeroCenteredGamma ? context.round(context.arithmetic, 1.0 + gamma.floats()[i]) : gamma.floats()[i];
  }
  if (beta) {
    if (beta.size() != width)
      return op->emitOpError() << "expected beta of " << width << " elements but got " << beta.size();
    context.beta.assign(beta.floats().begin(), beta.floats().end());
  }
  return success();
}

} // namespace

Interpreter::Results Interpreter::norm(Operation *op, const Array &x, const NormParts &parts, TypeRange resultTypes) {
  SmallVector<int64_t> leading(x.getShape().drop_back(parts.rank));
  int64_t width = 1, rows = 1, groups = parts.getGroupCount();
  for (int64_t dim : x.getShape().take_back(parts.rank))
    width *= dim;
  if (width % groups != 0)
    return op->emitOpError() << "expected a number of groups that divides " << width << " but got " << groups;
  if (parts.groups)
    leading.push_back(groups);
  for (int64_t dim : leading)
    rows *= dim;
  SmallVector<Array> results{Array::zeros(resultTypes.front(), x.getShape())};
  for (Type type : resultTypes.drop_front())
    results.push_back(Array::zeros(type, leading));

  Array alpha = getOptional(parts.alpha), gamma = getOptional(parts.gamma), beta = getOptional(parts.beta);
  ArrayRef<NormStatistic> statisticsOfKind = getNormRule(parts.kind).statistics;
  NormContext context;
  context.evaluation = getEvaluation(parts.kind);
  context.arithmetic = getArithmeticKind(x.floatKind());
  context.result = results.front().floatKind();
  context.exact = isExactMode();
  context.track = options.trackAccuracy;
  context.narrowAffine = parts.narrowAffine;
  context.epsilon = round(context.arithmetic, parts.epsilon ? parts.epsilon.getValueAsDouble() : 0.0);
  context.alpha = alpha ? alpha.asFloat() : 1.0;
  // A gamma of more dimensions than are normalised has a row for each of so many rows of x.
  int64_t period = 1;
  if (parts.hasWiderGamma())
    for (int64_t dim : x.getShape().drop_back(parts.rank).take_back(parts.getParameterRank() - parts.rank))
      period *= dim;
  if (failed(fillParameters(op, gamma, beta, parts.zeroCenteredGamma, width * period, context)))
    return failure();

  SmallVector<Accuracy> accuracies(results.size(), Accuracy{Accuracy::Bounded, {}});
  for (auto [accuracy, result] : llvm::zip_equal(accuracies, results))
    accuracy.bounds.resize(options.trackAccuracy || &result != &results.front() ? result.size() : 0);
  double *values = results.front().mutableFloats().data(), *rowBounds = accuracies.front().bounds.data();
  // From here on a group is a row of its own.
  int64_t columns = width / groups;
  for (int64_t row = 0; row != rows; ++row) {
    int64_t begin = row * columns;
    ArrayRef<double> elements = x.floats().slice(begin, columns);
    RowStatistics statistics = context.evaluation.getStatistics(context, elements);
    normalizeRow(context, elements, row % (groups * period) * columns, statistics,
                 {values + begin, rowBounds + (context.track ? begin : 0)});
    for (size_t i = 1; i < results.size(); ++i) {
      StoredStatistic stored = getStatistic(context, statistics, statisticsOfKind[i - 1]);
      results[i].mutableFloats()[row] = stored.value;
      accuracies[i].bounds[row] = stored.bound;
    }
  }
  bool tainted = isAnyTainted({x, alpha, gamma, beta});
  for (auto [accuracy, result] : llvm::zip_equal(accuracies, results))
    result.setAccuracy(tainted                 ? getToleranceAccuracy()
                       : options.trackAccuracy ? std::make_shared<const Accuracy>(std::move(accuracy))
                                               : nullptr);
  return results;
}

} // namespace mlir::resid::reference
