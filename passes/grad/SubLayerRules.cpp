// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of the family SubLayers: of linear layers and rotary embeddings.

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

/// dweight = Σ dy·x over the rows: the loops are those of the rows, then output and input features.
static Value createWeightGradient(ImplicitLocOpBuilder &builder, LinearOp linear, Value dy, Value x,
                                  function_ref<Value()> getWeight) {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  MLIRContext *context = builder.getContext();
  AffineMap all = builder.getMultiDimIdentityMap(rank + 1);
  AffineMap outputs = all.dropResult(rank), inputs = all.dropResult(rank - 1);
  SmallVector<AffineExpr> features(2);
  features[linear.getOutputAxis()] = all.getResult(rank - 1);
  features[linear.getInputAxis()] = all.getResult(rank);
  return createProductSum(builder, {dy, outputs}, {x, inputs}, cast<RankedTensorType>(linear.getWeight().getType()),
                          AffineMap::get(rank + 1, 0, features, context), getWeight);
}

/// dx is a linear layer of dy, with the weight read in the other order.
static Value createInputGradient(ImplicitLocOpBuilder &builder, LinearOp linear, Value dy, Value weight) {
  RankedTensorType x = linear.getX().getType();
  SmallVector<int64_t> shape(cast<RankedTensorType>(dy.getType()).getShape());
  shape.back() = linear.getWeight().getType().getDimSize(linear.getInputAxis());
  Value dx = LinearOp::create(builder, x.clone(shape), dy, weight, Value(), Value(), Value(), Value(), Value(),
                              !linear.getTransposed(), IntegerAttr());
  return dx.getType() == x ? dx : tensor::CastOp::create(builder, x, dx);
}

namespace {

struct LinearRule : GradientOpInterface::ExternalModel<LinearRule, LinearOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto linear = cast<LinearOp>(op);
    Value x = linear.getX(), weight = linear.getWeight(), bias = linear.getBias(),
          dy = gradients.get(linear.getResult());
    if (linear.hasIntegerWeight())
      return op->emitOpError("has no gradient with a weight of ") << linear.getWeight().getType().getElementType();
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    auto getWeight = [&] { return gradients.getPrimal(weight); };
    if (gradients.isNeeded(x))
      gradients.add(x, createInputGradient(builder, linear, dy, getWeight()));
    if (gradients.isNeeded(weight))
      gradients.add(weight, createWeightGradient(builder, linear, dy, gradients.getPrimal(x), getWeight));
    if (gradients.isNeeded(bias))
      gradients.add(bias, createColumnSum(builder, dy, cast<RankedTensorType>(bias.getType())));
    return success();
  }
};

/// dx is dy turned back, by the angles with -sin in place of sin.
struct RotaryRule : GradientOpInterface::ExternalModel<RotaryRule, RotaryOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto rotary = cast<RotaryOp>(op);
    for (Value table : {rotary.getCos(), rotary.getSin()})
      if (gradients.isNeeded(table))
        return op->emitOpError(
            "has no gradient of its tables yet: expected cos and sin that depend on no argument whose "
            "gradient is taken");
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    Value cos = gradients.getPrimal(rotary.getCos()), sin = gradients.getPrimal(rotary.getSin());
    Value back = arith::NegFOp::create(builder, sin);
    gradients.add(rotary.getX(), RotaryOp::create(builder, gradients.get(rotary.getResult()), cos, back,
                                                  gradients.getPrimal(rotary.getOffset()), rotary.getInterleaved()));
    return success();
  }
};

} // namespace

void resid::registerSubLayerRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ResidDialect *) {
    LinearOp::attachInterface<LinearRule>(*context);
    RotaryOp::attachInterface<RotaryRule>(*context);
  });
}
