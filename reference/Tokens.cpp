// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Tokens: cross-entropy in float64 with the bounds of its results, and embeddings, bit-equal to compiled code.

#include "reference/Bounds.h"
#include "reference/Interpreter.h"

namespace mlir::resid::reference {

namespace {

/// The labels of an op, as places in its rows.
struct Labels {
  const Array &labels;
  std::optional<int64_t> ignoreIndex;

  bool isIgnored(int64_t row) const { return ignoreIndex && labels.integers()[row] == *ignoreIndex; }
  int64_t get(int64_t row) const { return labels.integers()[row]; }
};

/// The largest logit of a row, and the logarithm of the sum of exponentials below it.
struct SoftmaxRow {
  double largest = -HUGE_VAL, log = 0.0;
};

} // namespace

/// A number for each of the leading sizes of `whole`.
static LogicalResult checkRows(Operation *op, const Array &whole, ArrayRef<Array> perRow) {
  for (const Array &array : perRow)
    if (array.getShape() != whole.getShape().drop_back())
      return op->emitOpError() << "expected a number for each row of " << describe(whole) << " but got "
                               << describe(array);
  return success();
}

static LogicalResult checkIds(Operation *op, StringRef what, const Labels &labels, int64_t size) {
  for (int64_t row = 0, rows = labels.labels.size(); row != rows; ++row)
    if (!labels.isIgnored(row) && (labels.get(row) < 0 || labels.get(row) >= size))
      return op->emitOpError() << "expected " << what << " below " << size << " but got " << labels.get(row);
  return success();
}

static SoftmaxRow takeSoftmax(ArrayRef<double> row) {
  SoftmaxRow softmax;
  for (double x : row)
    softmax.largest = std::isnan(x) || x > softmax.largest ? x : softmax.largest;
  CompensatedSum sum;
  for (double x : row)
    sum.add(std::exp(x - softmax.largest));
  softmax.log = std::log(sum.value());
  return softmax;
}

Interpreter::Results Interpreter::evaluate(CrossEntropyOp op) {
  const Array &logits = get(op.getLogits());
  Labels labels{get(op.getLabels()), op.getIgnoreIndex()};
  int64_t width = logits.getShape().back();
  if (failed(checkRows(op, logits, labels.labels)) || failed(checkIds(op, "a label", labels, width)))
    return failure();
  SmallVector<Array> results;
  for (Value result : op.getResults()) {
    Array array = Array::zeros(result.getType(), logits.getShape().drop_back());
    bool isLoss = result == op.getLoss();
    FloatKind kind = array.floatKind();
    Accuracy accuracy{Accuracy::Bounded, {}};
    MutableArrayRef<double> values = array.mutableFloats();
    for (int64_t row = 0; row != labels.labels.size(); ++row) {
      ArrayRef<double> x = logits.floats().slice(row * width, width);
      SoftmaxRow softmax = takeSoftmax(x);
      bool isZero = isLoss && labels.isIgnored(row);
      double picked = isLoss && !isZero ? x[labels.get(row)] : 0.0;
      values[row] = isZero ? 0.0 : round(kind, softmax.largest - picked + softmax.log);
      accuracy.bounds.push_back(isZero ? 0.0 : bounds::logSumExp(kind, softmax.largest, picked, softmax.log));
    }
    array.setAccuracy(options.trackAccuracy && !isAnyTainted(logits)
                          ? std::make_shared<const Accuracy>(std::move(accuracy))
                          : getToleranceAccuracy());
    results.push_back(array);
  }
  return results;
}

FailureOr<Array> Interpreter::evaluate(CrossEntropyGradOp op) {
  const Array &logits = get(op.getLogits()), &dloss = get(op.getDloss()), &logsumexp = get(op.getLogsumexp());
  Labels labels{get(op.getLabels()), op.getIgnoreIndex()};
  int64_t width = logits.getShape().back();
  if (failed(checkRows(op, logits, {labels.labels, dloss, logsumexp})) ||
      failed(checkIds(op, "a label", labels, width)))
    return failure();
  Array result = Array::zeros(op.getType(), logits.getShape());
  FloatKind stored = logits.floatKind(), arithmetic = getArithmeticKind(stored);
  MutableArrayRef<double> values = result.mutableFloats();
  Accuracy accuracy{Accuracy::Bounded, std::vector<double>(values.size(), 0.0)};
  for (int64_t row = 0; row != labels.labels.size(); ++row)
    for (int64_t j = 0; j != width && !labels.isIgnored(row); ++j) {
      int64_t place = row * width + j;
      double distance = logits.floats()[place] - logsumexp.floats()[row], scale = dloss.floats()[row];
      double value = (std::exp(distance) - (j == labels.get(row) ? 1.0 : 0.0)) * scale;
      values[place] = round(stored, value);
      accuracy.bounds[place] = bounds::logitGrad(arithmetic, stored, value, distance, scale);
    }
  result.setAccuracy(options.trackAccuracy && !isAnyTainted({logits, dloss, logsumexp})
                         ? std::make_shared<const Accuracy>(std::move(accuracy))
                         : getToleranceAccuracy());
  return result;
}

FailureOr<Array> Interpreter::evaluate(EmbeddingOp op) {
  const Array &ids = get(op.getIds()), &table = get(op.getTable());
  int64_t width = table.getShape()[1];
  if (failed(checkIds(op, "an id", {ids, std::nullopt}, table.getShape()[0])))
    return failure();
  SmallVector<int64_t> shape(ids.getShape());
  shape.push_back(width);
  Array result = Array::zeros(op.getType(), shape);
  for (auto [row, id] : llvm::enumerate(ids.integers()))
    for (int64_t j = 0; j != width; ++j)
      copyElement(table, id * width + j, result, row * width + j);
  if (isAnyTainted(table))
    result.setAccuracy(getToleranceAccuracy());
  return result;
}

FailureOr<Array> Interpreter::evaluate(EmbeddingGradOp op) {
  const Array &dy = get(op.getDy()), &ids = get(op.getIds()), &table = get(op.getTable());
  int64_t width = table.getShape()[1];
  SmallVector<int64_t> shape(ids.getShape());
  shape.push_back(width);
  if (dy.getShape() != ArrayRef<int64_t>(shape))
    return op.emitOpError() << "expected dy with a row for each id of " << describe(ids) << " and " << width
                            << " columns but got " << describe(dy);
  if (failed(checkIds(op, "an id", {ids, std::nullopt}, table.getShape()[0])))
    return failure();
  Array result = Array::zeros(op.getType(), table.getShape());
  FloatKind stored = table.floatKind(), arithmetic = getArithmeticKind(stored);
  MutableArrayRef<double> sums = result.mutableFloats();
  for (auto [row, id] : llvm::enumerate(ids.integers()))
    for (int64_t j = 0; j != width; ++j)
      sums[id * width + j] = round(arithmetic, sums[id * width + j] + dy.floats()[row * width + j]);
  for (double &sum : sums)
    sum = round(stored, sum);
  // The order of the sum is fixed, but wide mode leaves its roundings out.
  if (!isExactMode() || isAnyTainted(dy))
    result.setAccuracy(getToleranceAccuracy());
  return result;
}

} // namespace mlir::resid::reference
