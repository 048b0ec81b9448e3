// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family SubLayers but for linear layers (Contraction.cpp): activations in float64, with the bounds of the results, and
// rotary embeddings, bit-equal to compiled code.

#include "reference/Bounds.h"
#include "reference/Interpreter.h"

namespace mlir::resid::reference {

static double applyFunction(ActivationFunction function, double x, double alpha) {
  double positive = x > 0.0 || std::isnan(x) ? x : 0.0;
  switch (function) {
  case ActivationFunction::ReLU:
    return positive;
  case ActivationFunction::ReLU2:
    return positive * positive;
  case ActivationFunction::GELU:
    return 0.5 * x * (1.0 + std::erf(x * std::sqrt(0.5)));
  case ActivationFunction::GELUTanh:
    return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * (x * x * x))));
  case ActivationFunction::SiLU:
    return x / (1.0 + std::exp(-(alpha * x)));
  case ActivationFunction::Sigmoid:
    return 1.0 / (1.0 + std::exp(-x));
  }
  llvm_unreachable("an activation without an evaluation");
}

FailureOr<Array> Interpreter::activation(ActivationOp op, const Array &x, const Array &up) {
  if (up && up.getShape() != x.getShape())
    return op.emitOpError() << "expected x and up of one shape but got " << describe(x) << " and " << describe(up);
  const ActivationRule &rule = getActivationRule(op.getKind());
  FloatKind stored = x.floatKind(), arithmetic = getArithmeticKind(stored);
  Array result = Array::zeros(op.getType(), x.getShape());
  MutableArrayRef<double> values = result.mutableFloats();
  Accuracy accuracy{Accuracy::Bounded, std::vector<double>(values.size())};
  double limit = op.getLimit() ? round(arithmetic, op.getLimit()->convertToDouble()) : HUGE_VAL;
  double alpha = op.getAlpha() ? round(arithmetic, op.getAlpha()->convertToDouble()) : 1.0;
  for (auto [i, read] : llvm::enumerate(x.floats())) {
    // A NaN stays one.
    double element = read > limit ? limit : read, factor = up ? up.floats()[i] : 1.0;
    factor = (std::fabs(factor) > limit ? std::copysign(limit, factor) : factor) + (rule.isClamped ? 1.0 : 0.0);
    double value = applyFunction(rule.function, element, alpha) * factor;
    values[i] = round(stored, value);
    double scale = rule.function == ActivationFunction::Sigmoid ? 1.0 : element;
    accuracy.bounds[i] = bounds::activation(arithmetic, stored, value, scale * factor);
  }
  // Nothing is rounded in ReLU, and a square is rounded once: that of a narrower number is exact in the arithmetic
  // type.
  if (rule.function != ActivationFunction::ReLU && rule.function != ActivationFunction::ReLU2)
    result.setAccuracy(options.trackAccuracy && isExactMode() ? std::make_shared<const Accuracy>(std::move(accuracy))
                                                              : getToleranceAccuracy());
  return result;
}

/// Sizes that only the arrays tell, and the offsets: one, or one for each sample.
static LogicalResult checkRotary(RotaryOp op, const Array &x, ArrayRef<Array> tables, ArrayRef<int64_t> offsets) {
  int64_t samples = x.getShape().front();
  if (offsets.size() != 1 && int64_t(offsets.size()) != samples)
    return op.emitOpError() << "expected an offset for each of " << samples << " samples but got " << offsets.size();
  int64_t positions = x.getShape().end()[-2];
  for (const Array &table : tables) {
    int64_t rows = table.getShape()[0];
    if (!op.getOffset() && rows != positions)
      return op.emitOpError() << "expected tables of " << positions << " rows, one for each position, but got " << rows;
    for (int64_t offset : offsets)
      if (offset < 0 || rows < positions || offset > rows - positions)
        return op.emitOpError() << "expected an offset from 0 to " << rows - positions << " but got " << offset;
  }
  return success();
}

FailureOr<Array> Interpreter::rotary(RotaryOp op, const Array &x, const Array &cos, const Array &sin) {
  SmallVector<int64_t> offsets{0};
  if (op.getOffset())
    offsets.assign(get(op.getOffset()).integers().begin(), get(op.getOffset()).integers().end());
  if (failed(checkRotary(op, x, {cos, sin}, offsets)))
    return failure();
  int64_t size = x.getShape().back(), positions = x.getShape().end()[-2], pairs = op.getPairs();
  FloatKind stored = x.floatKind(), arithmetic = getArithmeticKind(stored);
  Array result = Array::zeros(op.getType(), x.getShape());
  MutableArrayRef<double> values = result.mutableFloats();
  llvm::copy(x.floats(), values.begin());
  for (int64_t head = 0, heads = size ? x.size() / size : 0; head != heads; ++head) {
    int64_t offset = offsets[offsets.size() == 1 ? 0 : head / (heads / x.getShape().front())];
    for (int64_t j = 0; j != pairs; ++j) {
      int64_t row = (offset + head % positions) * pairs + j;
      int64_t first = head * size + (op.getInterleaved() ? 2 * j : j),
              second = first + (op.getInterleaved() ? 1 : pairs);
      double c = cos.floats()[row], s = sin.floats()[row], x1 = x.floats()[first], x2 = x.floats()[second];
      auto times = [&](double a, double b) { return round(arithmetic, a * b); };
      values[first] = round(stored, round(arithmetic, times(x1, c) - times(x2, s)));
      values[second] = round(stored, round(arithmetic, times(x2, c) + times(x1, s)));
    }
  }
  return result;
}

} // namespace mlir::resid::reference
