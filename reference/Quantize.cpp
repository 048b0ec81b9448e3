// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Quantize, bit-equal to compiled code.

#include "reference/Interpreter.h"

namespace mlir::resid::reference {

/// How many elements in a row have one scale after the other, and how many a row has.
static std::pair<int64_t, int64_t> getRun(const Array &array, Granularity granularity, std::optional<int64_t> group) {
  int64_t columns = granularity == Granularity::Tensor ? array.size() : array.getShape().back();
  return {group.value_or(columns), columns};
}

/// Calls `body` with the number of each scale, and the first of its elements and how many they are.
static void forEachRun(const Array &array, std::pair<int64_t, int64_t> run,
                       llvm::function_ref<void(int64_t, int64_t, int64_t)> body) {
  auto [length, columns] = run;
  int64_t number = 0;
  for (int64_t row = 0, rows = columns ? array.size() / columns : 0; row != rows; ++row)
    for (int64_t first = 0; first < columns; first += length)
      body(number++, row * columns + first, std::min(length, columns - first));
}

static LogicalResult checkScales(Operation *op, const Array &scale, ArrayRef<int64_t> shape) {
  if (scale.getShape() == shape)
    return success();
  InFlightDiagnostic message = op->emitOpError("expected scales of sizes [");
  llvm::interleaveComma(shape, message);
  return message << "] but got " << describe(scale);
}

static SmallVector<int64_t> getScaleShape(const Array &array, Granularity granularity, std::optional<int64_t> group) {
  if (granularity == Granularity::Tensor)
    return {};
  SmallVector<int64_t> shape(array.getShape().drop_back());
  if (group)
    shape.push_back(llvm::divideCeil(array.getShape().back(), *group));
  return shape;
}

/// max|x| / 127, or NaN where that is no number.
static double findScale(ArrayRef<double> values) {
  double largest = 0.0;
  for (double x : values)
    largest = std::isfinite(x) && std::isfinite(largest) ? std::max(largest, std::fabs(x)) : HUGE_VAL;
  return std::isfinite(largest) ? roundTo(FloatKind::F32, largest / 127.0) : std::nan("");
}

static int64_t divide(double x, double scale) {
  double ratio = roundTo(FloatKind::F32, x / scale);
  if (scale == 0.0 || std::isnan(ratio))
    return 0;
  return static_cast<int64_t>(std::min(std::max(std::nearbyint(ratio), -127.0), 127.0));
}

/// How far integers, and the scales after them, may be off where x is a value that is off itself. A value that is near
/// decides which of two neighbours its integer is.
static void judgeQuantized(const Array &x, const Array &scale, std::pair<int64_t, int64_t> run,
                           MutableArrayRef<Array> results) {
  const Accuracy *accuracy = x.getAccuracy().get();
  bool isBounded = accuracy && accuracy->kind == Accuracy::Bounded;
  auto getBound = [&](int64_t i) { return isBounded ? accuracy->bounds[i] : 0.0; };
  Accuracy ofIntegers{Accuracy::Bounded, std::vector<double>(x.size())};
  Accuracy ofScales{Accuracy::Bounded, std::vector<double>(scale.size())};
  forEachRun(x, run, [&](int64_t number, int64_t first, int64_t count) {
    double largest = 0.0, divisor = scale.floats()[number];
    for (int64_t i = first; i != first + count; ++i)
      largest = std::max(largest, getBound(i));
    ofScales.bounds[number] = largest / 127.0 + unitInLastPlace(FloatKind::F32, divisor);
    // The largest magnitude is 127 scales.
    for (int64_t i = first; i != first + count; ++i)
      ofIntegers.bounds[i] = divisor > 0.0 ? 1.0 + std::ceil((getBound(i) + largest) / divisor) : 254.0;
  });
  results[0].setAccuracy(std::make_shared<const Accuracy>(std::move(ofIntegers)));
  if (results.size() > 1)
    results[1].setAccuracy(isBounded ? std::make_shared<const Accuracy>(std::move(ofScales)) : getToleranceAccuracy());
}

Interpreter::Results Interpreter::evaluate(QuantizeOp op) {
  const Array &x = get(op.getX());
  SmallVector<int64_t> shape = getScaleShape(x, op.getGranularity(), op.getGroup());
  Array scale = op.getStaticScale() ? get(op.getStaticScale()) : Array::zeros(op.getScale().getType(), shape);
  Array q = Array::zeros(op.getQ().getType(), x.getShape());
  if (failed(checkScales(op, scale, shape)))
    return failure();
  MutableArrayRef<int64_t> integers = q.mutableIntegers();
  forEachRun(x, getRun(x, op.getGranularity(), op.getGroup()), [&](int64_t number, int64_t first, int64_t count) {
    if (!op.getStaticScale())
      scale.mutableFloats()[number] = findScale(x.floats().slice(first, count));
    for (int64_t i = first; i != first + count; ++i)
      integers[i] = divide(x.floats()[i], scale.floats()[number]);
  });
  SmallVector<Array> results{q};
  if (op.getScale())
    results.push_back(scale);
  if (isAnyTainted({x, scale}))
    judgeQuantized(x, scale, getRun(x, op.getGranularity(), op.getGroup()), results);
  return results;
}

FailureOr<Array> Interpreter::evaluate(DequantizeOp op) {
  const Array &q = get(op.getQ()), &scale = get(op.getScale());
  if (failed(checkScales(op, scale, getScaleShape(q, op.getGranularity(), op.getGroup()))))
    return failure();
  Array result = Array::zeros(op.getType(), q.getShape());
  FloatKind kind = result.floatKind();
  MutableArrayRef<double> values = result.mutableFloats();
  forEachRun(q, getRun(q, op.getGranularity(), op.getGroup()), [&](int64_t number, int64_t first, int64_t count) {
    for (int64_t i = first; i != first + count; ++i)
      values[i] = round(kind, round(FloatKind::F32, double(q.integers()[i]) * scale.floats()[number]));
  });
  if (isAnyTainted({q, scale}))
    result.setAccuracy(getToleranceAccuracy());
  return result;
}

} // namespace mlir::resid::reference
