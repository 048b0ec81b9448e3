// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of resid.activation: one elementwise op, which computes the activation again. The derivatives are written so
// that no finite x gives a NaN, and none loses its digits in a difference from 1.

#include "dialect/ActivationKinds.h"
#include "dialect/ResidDialect.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/grad/BodyBuilder.h"
#include "passes/grad/Rules.h"
#include "passes/grad/ScalarRules.h"

using namespace mlir;
using namespace mlir::resid;

/// √(2/π) and 1/√(2π), in more digits than f64 has.
static constexpr double kTanhScale = 0.79788456080286535588, kBellScale = 0.39894228040143267794;

/// True of NaN too, so that a NaN gives no gradient of 0.
static Value isPositive(const Numbers &steps, Value x) {
  return steps.compare(arith::CmpFPredicate::UGT, x, steps.constant(0.0));
}

/// x·σ(z) and its derivative, where `slope` is z', or null for 1.
static Point createLogistic(const Numbers &steps, Value x, Value z, Value slope) {
  auto [s, derivative] = createSigmoid(steps, z);
  Value change = steps.times(x, derivative);
  if (slope)
    change = steps.times(change, slope);
  return {steps.times(x, s), steps.plus(s, change)};
}

/// 2·√(2/π)·(x + 0.044715·x³) is what the logistic function is of, where the op's definition has a tanh. Where x² is
/// past its limit both are flat, and without one the slope would overflow there.
static Point createTanhGELU(const Numbers &steps, Value x) {
  Value square = arith::MinimumFOp::create(steps.getBuilder(), steps.times(x, x), steps.constant(1024.0));
  Value scale = steps.constant(2.0 * kTanhScale), one = steps.constant(1.0);
  auto scalePolynomial = [&](double factor) {
    return steps.times(scale, steps.plus(one, steps.times(steps.constant(factor), square)));
  };
  return createLogistic(steps, x, steps.times(x, scalePolynomial(0.044715)), scalePolynomial(3.0 * 0.044715));
}

/// Φ(x) + x·φ(x).
static Point createGELU(const Numbers &steps, Value x) {
  Value erf = math::ErfOp::create(steps.getBuilder(), steps.times(x, steps.constant(llvm::numbers::inv_sqrt2)));
  Value onePlus = steps.plus(steps.constant(1.0), erf), half = steps.constant(0.5);
  Value power = steps.times(steps.constant(-0.5), steps.times(x, x));
  Value bell = steps.times(math::ExpOp::create(steps.getBuilder(), power), steps.constant(kBellScale));
  return {steps.times(steps.times(half, x), onePlus), steps.plus(steps.times(half, onePlus), steps.times(x, bell))};
}

/// `alpha`, or null for 1, is a factor on what the logistic function is of. The derivative of ReLU is a condition:
/// 1 where it holds, else 0.
static Point createPoint(const Numbers &steps, ActivationFunction function, Value x, Value alpha) {
  switch (function) {
  case ActivationFunction::ReLU: {
    Value condition = isPositive(steps, x), zero = steps.constant(0.0);
    return {steps.select(condition, x, zero), condition};
  }
  case ActivationFunction::ReLU2: {
    Value positive = steps.select(isPositive(steps, x), x, steps.constant(0.0));
    return {steps.times(positive, positive), steps.times(steps.constant(2.0), positive)};
  }
  case ActivationFunction::GELU:
    return createGELU(steps, x);
  case ActivationFunction::GELUTanh:
    return createTanhGELU(steps, x);
  case ActivationFunction::SiLU:
    return createLogistic(steps, x, alpha ? steps.times(alpha, x) : x, alpha);
  case ActivationFunction::Sigmoid:
    return createSigmoid(steps, x);
  }
  llvm_unreachable("an activation without a gradient");
}

namespace {
/// An operand of an activation as its function takes it.
struct Clamped {
  Value value;
  /// Whether it lies within the limit; null where there is none.
  Value isInside;
};

struct ActivationRuleModel : GradientOpInterface::ExternalModel<ActivationRuleModel, ActivationOp> {
  /// For dx the rule reads x and up anyway.
  Value recompute(Operation *op, unsigned, Gradients &gradients) const {
    return gradients.isNeeded(cast<ActivationOp>(op).getX()) ? gradients.clone(op->getOpResult(0)) : Value();
  }

  LogicalResult differentiate(Operation *op, Gradients &gradients) const;
};
} // namespace

/// min(x, limit), or with a least value min(max(x, least), limit). At the limit the operand does not count, as with any
/// constant bound.
static Clamped clamp(const Numbers &steps, Value x, Value least, Value limit) {
  if (!limit)
    return {x, Value()};
  ImplicitLocOpBuilder &builder = steps.getBuilder();
  Value isInside = steps.compare(arith::CmpFPredicate::OLT, x, limit);
  Value value = x;
  if (least) {
    isInside = arith::AndIOp::create(builder, isInside, steps.compare(arith::CmpFPredicate::OGT, x, least));
    value = arith::MaximumFOp::create(builder, x, least);
  }
  return {arith::MinimumFOp::create(builder, value, limit), isInside};
}

LogicalResult ActivationRuleModel::differentiate(Operation *op, Gradients &gradients) const {
  auto activation = cast<ActivationOp>(op);
  auto type = cast<RankedTensorType>(activation.getX().getType());
  ImplicitLocOpBuilder &builder = gradients.getBuilder();
  FloatType arithmetic = getArithmeticType(type.getElementType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  BodyBuilder body(builder);
  ImplicitLocOpBuilder &inner = body.getBuilder();
  auto read = [&](Value tensor) { return convertElements(inner, body.read(tensor, identity), arithmetic); };
  const ActivationRule &rule = getActivationRule(activation.getKind());
  Value element = read(gradients.getPrimal(activation.getX()));
  Value tensor = gradients.get(activation.getResult()), dy = read(tensor);
  Numbers steps(inner, arithmetic);
  auto constant = [&](std::optional<APFloat> number) {
    return number ? steps.constant(number->convertToDouble()) : Value();
  };
  Value limit = constant(activation.getLimit());
  Clamped x = clamp(steps, element, Value(), limit);
  Point point = createPoint(steps, rule.function, x.value, constant(activation.getAlpha()));
  auto keepInside = [&](const Clamped &operand, Value gradient) {
    return operand.isInside ? steps.select(operand.isInside, gradient, steps.constant(0.0)) : gradient;
  };
  SmallVector<Value> operands, elements;
  Clamped up;
  if (activation.getUp() && (limit || gradients.isNeeded(activation.getX())))
    up = clamp(steps, read(gradients.getPrimal(activation.getUp())), limit ? steps.negate(limit) : Value(), limit);
  if (gradients.isNeeded(activation.getX())) {
    Value factor = rule.isClamped ? steps.plus(up.value, steps.constant(1.0)) : up.value;
    factor = factor ? steps.times(dy, factor) : dy;
    operands.push_back(activation.getX());
    Value gradient = point.derivative.getType() == arithmetic
                         ? steps.times(factor, point.derivative)
                         : steps.select(point.derivative, factor, steps.constant(0.0));
    elements.push_back(keepInside(x, gradient));
  }
  if (gradients.isNeeded(activation.getUp())) {
    operands.push_back(activation.getUp());
    elements.push_back(keepInside(up, steps.times(dy, point.value)));
  }
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, builder.getLoc(), tensor);
  for (Value &element : elements) {
    element = convertElements(inner, element, type.getElementType());
    body.addResult(tensor::EmptyOp::create(builder, sizes, type.getElementType()), identity);
  }
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  linalg::GenericOp created = body.finish(loops, elements);
  for (auto [operand, gradient] : llvm::zip_equal(operands, created.getResults()))
    gradients.add(operand, gradient);
  return success();
}

void resid::registerActivationRules(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, ResidDialect *) { ActivationOp::attachInterface<ActivationRuleModel>(*context); });
}
