// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family SubLayers but for linear layers (Contraction.cpp): activations in float64, with the bounds of the results.

#include "reference/Bounds.h"
#include "reference/Interpreter.h"

namespace mlir::resid::reference {

static double applyFunction(ActivationFunction function, double x) {
  switch (function) {
  case ActivationFunction::ReLU:
    return x > 0.0 || std::isnan(x) ? x : 0.0;
  case ActivationFunction::GELU:
    return 0.5 * x * (1.0 + std::erf(x * std::sqrt(0.5)));
  case ActivationFunction::GELUTanh:
    return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * (x * x * x))));
  case ActivationFunction::SiLU:
    return x / (1.0 + std::exp(-x));
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
  for (auto [i, element] : llvm::enumerate(x.floats())) {
    double factor = up ? up.floats()[i] : 1.0;
    double value = applyFunction(rule.function, element) * factor;
    values[i] = round(stored, value);
    accuracy.bounds[i] = bounds::activation(arithmetic, stored, value, element * factor);
  }
  // Nothing is rounded in ReLU.
  if (rule.function != ActivationFunction::ReLU)
    result.setAccuracy(options.trackAccuracy && isExactMode() ? std::make_shared<const Accuracy>(std::move(accuracy))
                                                              : getToleranceAccuracy());
  return result;
}

} // namespace mlir::resid::reference
