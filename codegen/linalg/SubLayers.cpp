// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family SubLayers: a linear layer is a contraction in the arithmetic type, with its bias after it,
// and an activation is elementwise.

#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
/// A linear layer with the operands that its op has by now.
struct LinearOperands {
  LinearOp op;
  Value x, weight, bias;
  FloatType arithmetic;

  int64_t getRank() const { return cast<RankedTensorType>(x.getType()).getRank(); }
};
} // namespace

/// The chain of each element, in the arithmetic type. Only where no bias follows is it rounded to the result's type.
static Value createChains(ImplicitLocOpBuilder &builder, const LinearOperands &layer, ArrayRef<OpFoldResult> sizes) {
  LinearOp op = layer.op;
  int64_t rank = layer.getRank();
  FloatType element =
      layer.bias ? layer.arithmetic : cast<FloatType>(cast<RankedTensorType>(op.getType()).getElementType());
  Value zero = createConstant(builder, element, 0.0);
  Value empty = tensor::EmptyOp::create(builder, sizes, element);
  Value zeros = linalg::FillOp::create(builder, zero, empty).getResult(0);
  // The output features are the last loop of the result, the input features the one after.
  SmallVector<AffineExpr> rows, weight(2);
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    rows.push_back(builder.getAffineDimExpr(dim));
  AffineExpr output = builder.getAffineDimExpr(rank - 1), input = builder.getAffineDimExpr(rank);
  weight[op.getInputAxis()] = input;
  weight[op.getOutputAxis()] = output;
  SmallVector<AffineExpr> x = rows, result = rows;
  x.push_back(input);
  result.push_back(output);
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> expressions : {ArrayRef(x), ArrayRef(weight), ArrayRef(result)})
    maps.push_back(AffineMap::get(rank + 1, 0, expressions, builder.getContext()));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  auto body = [&](OpBuilder &nested, Location loc, ValueRange elements) {
    ImplicitLocOpBuilder inner(loc, nested);
    SmallVector<Value> wide =
        llvm::map_to_vector(elements, [&](Value value) { return convertFloat(inner, value, layer.arithmetic); });
    Value sum = math::FmaOp::create(inner, wide[0], wide[1], wide[2]);
    linalg::YieldOp::create(inner, convertFloat(inner, sum, element));
  };
  return linalg::GenericOp::create(builder, TypeRange(zeros.getType()), ValueRange{layer.x, layer.weight},
                                   ValueRange(zeros), maps, iterators, body)
      .getResult(0);
}

static Value lowerLinear(ImplicitLocOpBuilder &builder, const LinearOperands &layer) {
  LinearOp op = layer.op;
  SmallVector<OpFoldResult> sizes = getSizes(builder, layer.x);
  sizes.back() = getSizes(builder, layer.weight)[op.getOutputAxis()];
  Value chains = createChains(builder, layer, sizes);
  if (!layer.bias)
    return chains.getType() == op.getType() ? chains : Value(tensor::CastOp::create(builder, op.getType(), chains));
  auto addBias = [](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    return {arith::AddFOp::create(inner, elements[0], elements[1])};
  };
  AffineMap identity = getIdentityMap(builder.getContext(), layer.getRank());
  AffineMap feature = getColumnMap(builder.getContext(), layer.getRank(), 1);
  return createElementwise(builder, {{chains, identity}, {layer.bias, feature}}, sizes, op.getType(), layer.arithmetic,
                           addBias)
      .front();
}

/// √(2/π), in more digits than f64 has.
static constexpr double kTanhScale = 0.79788456080286535588;

/// The steps of the op's definition.
static Value applyFunction(ImplicitLocOpBuilder &builder, ActivationFunction function, Value x) {
  auto type = cast<FloatType>(x.getType());
  auto number = [&](double value) { return createConstant(builder, type, value); };
  auto halfTimesOnePlus = [&](Value value) -> Value {
    Value half = arith::MulFOp::create(builder, number(0.5), x);
    return arith::MulFOp::create(builder, half, arith::AddFOp::create(builder, number(1.0), value));
  };
  switch (function) {
  case ActivationFunction::ReLU: {
    Value isKept = arith::CmpFOp::create(builder, arith::CmpFPredicate::UGT, x, number(0.0));
    return arith::SelectOp::create(builder, isKept, x, number(0.0));
  }
  case ActivationFunction::GELU:
    return halfTimesOnePlus(
        math::ErfOp::create(builder, arith::MulFOp::create(builder, x, number(llvm::numbers::inv_sqrt2))));
  case ActivationFunction::GELUTanh: {
    Value square = arith::MulFOp::create(builder, x, x);
    Value cube = arith::MulFOp::create(builder, square, x);
    Value sum = arith::AddFOp::create(builder, x, arith::MulFOp::create(builder, number(0.044715), cube));
    return halfTimesOnePlus(math::TanhOp::create(builder, arith::MulFOp::create(builder, number(kTanhScale), sum)));
  }
  case ActivationFunction::SiLU:
  case ActivationFunction::Sigmoid: {
    Value power = math::ExpOp::create(builder, arith::NegFOp::create(builder, x));
    Value top = function == ActivationFunction::SiLU ? x : number(1.0);
    return arith::DivFOp::create(builder, top, arith::AddFOp::create(builder, number(1.0), power));
  }
  }
  llvm_unreachable("an activation without a lowering");
}

static Value lowerActivation(ImplicitLocOpBuilder &builder, const ActivationRule &rule, Value x, Value up) {
  auto type = cast<RankedTensorType>(x.getType());
  AffineMap identity = getIdentityMap(builder.getContext(), type.getRank());
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value value = applyFunction(inner, rule.function, elements[0]);
    return {elements[1] ? Value(arith::MulFOp::create(inner, value, elements[1])) : value};
  };
  return createElementwise(builder, {{x, identity}, {up, identity}}, getSizes(builder, x), type,
                           getArithmeticType(type.getElementType()), body)
      .front();
}

namespace {
struct LowerActivation : OpConversionPattern<ActivationOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ActivationOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, lowerActivation(builder, getActivationRule(op.getKind()), adaptor.getX(), adaptor.getUp()));
    return success();
  }
};

struct LowerLinear : OpConversionPattern<LinearOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LinearOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    LinearOperands layer{op, adaptor.getX(), adaptor.getWeight(), adaptor.getBias(), op.getArithmeticType()};
    rewriter.replaceOp(op, lowerLinear(builder, layer));
    return success();
  }
};
} // namespace

void resid::populateSubLayersToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerActivation, LowerLinear>(patterns.getContext());
}
