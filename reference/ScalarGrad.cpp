// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward ops of a gate and of a dynamic tanh in float64, with the bounds of the results.

#include "reference/Bounds.h"
#include "reference/ParameterGrad.h"

namespace mlir::resid::reference {

FailureOr<Array> Interpreter::gateGrad(GateGradOp op, const Array &dy, const Array &f) {
  if (dy.getShape() != f.getShape())
    return op->emitOpError() << "expected dy and f of one shape but got " << describe(dy) << " and " << describe(f);
  RankedTensorType type = op.getDgate().getType();
  SmallVector<int64_t> shape(type.getShape()), strides(f.getRank(), 0);
  for (auto [size, ofBranch] : llvm::zip_equal(shape, f.getShape().take_back(shape.size())))
    size = size == 1 ? 1 : ofBranch;
  Array gate = Array::zeros(type, shape);
  SmallVector<int64_t> own = gate.getStrides();
  for (auto [dimension, size] : llvm::enumerate(type.getShape()))
    strides[f.getRank() - type.getRank() + dimension] = size == 1 ? 0 : own[dimension];

  FloatKind arithmetic = getArithmeticKind(f.floatKind());
  double scale = round(arithmetic, op.getBranchScale().convertToDouble());
  ParameterTerms terms(gate.size());
  for (int64_t i = 0, e = f.size(); i != e; ++i) {
    int64_t rest = i, element = 0;
    for (int64_t dimension = f.getRank() - 1; dimension >= 0; --dimension) {
      int64_t size = f.getShape()[dimension];
      element += rest % size * strides[dimension];
      rest /= size;
    }
    double term = round(arithmetic, f.floats()[i] * dy.floats()[i]);
    terms.add(element, scale == 1.0 ? term : round(arithmetic, scale * term));
  }
  return finishParameter(gate, terms, arithmetic, isAnyTainted({dy, f}));
}

Interpreter::Results Interpreter::evaluate(DyTGradOp op) {
  Array dy = get(op.getDy()), x = get(op.getX()), alphaArray = get(op.getAlpha()), dsum = getOptional(op.getDsum()),
        gammaArray = getOptional(op.getGamma());
  for (const Array &array : {dy, dsum})
    if (array && array.getShape() != x.getShape())
      return op->emitOpError() << "expected dy, x and sum of one shape but got " << describe(array) << " and "
                               << describe(x);
  int64_t rank = gammaArray ? gammaArray.getRank() : 0;
  if (gammaArray && gammaArray.getShape() != x.getShape().take_back(rank))
    return op->emitOpError() << "expected gamma of the last dimensions of " << describe(x) << " but got "
                             << describe(gammaArray);
  FloatKind arithmetic = getArithmeticKind(x.floatKind());
  int64_t width = gammaArray ? gammaArray.size() : 1;
  std::vector<double> gamma(width, 1.0);
  for (int64_t i = 0; gammaArray && i != width; ++i)
    gamma[i] = op.getZeroCenteredGamma() ? round(arithmetic, 1.0 + gammaArray.floats()[i]) : gammaArray.floats()[i];

  double alpha = alphaArray.asFloat();
  Array dx = Array::zeros(op.getDx().getType(), x.getShape());
  std::vector<double> allowed;
  ParameterTerms dalpha(1), dgamma(width), dbeta(width);
  for (int64_t i = 0, e = x.size(); i != e; ++i) {
    double gradient = dy.floats()[i], element = x.floats()[i], t = std::tanh(alpha * element);
    double g = gradient * gamma[i % width], slope = (1.0 - t) * (1.0 + t) * g;
    // A sum that is not there must not turn -0 into +0.
    double value = dsum ? alpha * slope + dsum.floats()[i] : alpha * slope;
    dx.mutableFloats()[i] = round(dx.floatKind(), value);
    double addend = dsum ? dsum.floats()[i] : 0.0;
    allowed.push_back(bounds::dytGrad(arithmetic, dx.floatKind(), value, alpha * g, addend));
    dalpha.add(0, element * slope, std::fabs(element * g));
    dgamma.add(i % width, gradient * t);
    dbeta.add(i % width, gradient);
  }
  bool isTainted = isAnyTainted({dy, x, alphaArray, dsum, gammaArray});
  judge(dx, std::move(allowed), isTainted);
  SmallVector<Array> results{dx};
  results.push_back(finishParameter(Array::zeros(op.getDalpha().getType()), dalpha, arithmetic, isTainted));
  const ParameterTerms *allTerms[] = {&dgamma, &dbeta};
  for (auto [parameter, terms] : llvm::zip(op.getParameters(), allTerms))
    results.push_back(
        finishParameter(Array::zeros(parameter.getType(), gammaArray.getShape()), *terms, arithmetic, isTainted));
  return results;
}

} // namespace mlir::resid::reference
