// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of linalg.softmax: dx = y·(dy - Σ dy·y), which reads the result alone.

#include "dialect/Shapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/grad/BodyBuilder.h"
#include "passes/grad/Rules.h"
#include "passes/grad/ScalarRules.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

struct SoftmaxRule : GradientOpInterface::ExternalModel<SoftmaxRule, linalg::SoftmaxOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const;
};

/// The maps from the loops to the elements, and to all dimensions but the one that is normalised.
struct SoftmaxMaps {
  AffineMap all, rest;
  SmallVector<utils::IteratorType> loops;
  FloatType type;
};

} // namespace

/// Σ dy·y along the normalised dimension, products rounded.
static Value createProductSum(ImplicitLocOpBuilder &builder, const SoftmaxMaps &maps, Value dy, Value y) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, builder.getLoc(), dy), kept;
  for (AffineExpr expression : maps.rest.getResults())
    kept.push_back(sizes[cast<AffineDimExpr>(expression).getPosition()]);
  Value zero = arith::ConstantFloatOp::create(builder, maps.type, APFloat::getZero(maps.type.getFloatSemantics()));
  Value empty = tensor::EmptyOp::create(builder, kept, maps.type);
  Value zeros = linalg::FillOp::create(builder, zero, empty).getResult(0);
  BodyBuilder body(builder);
  ImplicitLocOpBuilder &inner = body.getBuilder();
  Value a = convertElements(inner, body.read(dy, maps.all), maps.type);
  Value b = convertElements(inner, body.read(y, maps.all), maps.type);
  Value sum = body.addResult(zeros, maps.rest);
  Value product = arith::MulFOp::create(inner, a, b);
  return body.finish(maps.loops, Value(arith::AddFOp::create(inner, sum, product))).getResult(0);
}

LogicalResult SoftmaxRule::differentiate(Operation *op, Gradients &gradients) const {
  auto softmax = cast<linalg::SoftmaxOp>(op);
  Value result = op->getResult(0), dy = gradients.get(result), y = gradients.getPrimal(result);
  ImplicitLocOpBuilder &builder = gradients.getBuilder();
  auto type = cast<RankedTensorType>(result.getType());
  AffineMap all = builder.getMultiDimIdentityMap(type.getRank());
  SoftmaxMaps maps{all, all.dropResult(softmax.getDimension()),
                   SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
                   getArithmeticType(type.getElementType())};
  maps.loops[softmax.getDimension()] = utils::IteratorType::reduction;
  Value sum = createProductSum(builder, maps, dy, y);
  BodyBuilder body(builder);
  ImplicitLocOpBuilder &inner = body.getBuilder();
  Value a = convertElements(inner, body.read(dy, all), maps.type),
        b = convertElements(inner, body.read(y, all), maps.type);
  Value difference = arith::SubFOp::create(inner, a, body.read(sum, maps.rest));
  Value product = arith::MulFOp::create(inner, b, difference);
  body.addResult(
      tensor::EmptyOp::create(builder, tensor::getMixedSizes(builder, builder.getLoc(), dy), type.getElementType()),
      all);
  SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
  Value dx = body.finish(parallel, convertElements(inner, product, type.getElementType())).getResult(0);
  Value input = softmax.getInput();
  gradients.add(input, dx.getType() == input.getType() ? dx : tensor::CastOp::create(builder, input.getType(), dx));
  return success();
}

void resid::attachSoftmaxRule(MLIRContext &context) { linalg::SoftmaxOp::attachInterface<SoftmaxRule>(context); }
