// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family SubLayers: a linear layer is a contraction in the arithmetic type, with its bias after it,
// and an activation is elementwise.

#include "codegen/contractions/OperandSource.h"
#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "dialect/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "runtime/resid.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
/// A linear layer with the operands that its op has by now.
struct LinearOperands {
  LinearOp op;
  Value x, weight, xScale, weightScale, bias;
  FloatType arithmetic;

  int64_t getRank() const { return cast<RankedTensorType>(x.getType()).getRank(); }
};
} // namespace

/// The chain of each element, in the arithmetic type. Only where no bias follows is it rounded to the result's type. Of
/// rows of integers it is the sum in i32.
static Value createChains(Code &builder, const LinearOperands &layer, ArrayRef<OpFoldResult> sizes) {
  LinearOp op = layer.op;
  int64_t rank = layer.getRank();
  Type element = op.hasIntegerRows() ? builder.getI32Type()
                 : layer.bias        ? Type(layer.arithmetic)
                                     : cast<RankedTensorType>(op.getType()).getElementType();
  Value zero = builder.create<arith::ConstantOp>(builder.getZeroAttr(element));
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
    Code inner(nested, loc);
    if (op.hasIntegerRows()) {
      Value product = inner.multiply(inner.extendSign(elements[0], element), inner.extendSign(elements[1], element));
      linalg::YieldOp::create(inner, inner.add(elements[2], product));
      return;
    }
    SmallVector<Value> wide =
        llvm::map_to_vector(elements, [&](Value value) { return inner.castFloat(value, layer.arithmetic); });
    Value sum = inner.fma(wide[0], wide[1], wide[2]);
    linalg::YieldOp::create(inner, inner.castFloat(sum, element));
  };
  return linalg::GenericOp::create(builder, TypeRange(zeros.getType()), ValueRange{layer.x, layer.weight},
                                   ValueRange(zeros), maps, iterators, body)
      .getResult(0);
}

/// The weight that integers stand for, in f32: group by group, each of which has a row of the parameters' last
/// dimension.
static Value createWeight(Code &builder, LinearOp op, Value integers, ArrayRef<Value> parameters) {
  auto type = cast<RankedTensorType>(integers.getType());
  int64_t group = *op.getGroup();
  FloatType arithmetic = op.getArithmeticType();
  SmallVector<OpFoldResult> sizes = getSizes(builder, integers);
  sizes.back() = builder.getIndexAttr(type.getDimSize(1) / group);
  sizes.push_back(builder.getIndexAttr(group));
  int64_t shape[] = {type.getDimSize(0), type.getDimSize(1) / group, group};
  ReassociationIndices groups[] = {{0}, {1, 2}};
  Value split = builder.create<tensor::ExpandShapeOp>(type.clone(shape), integers, groups, sizes);
  SmallVector<ElementwiseOperand> operands = {{split, getIdentityMap(builder.getContext(), 3)}};
  for (Value parameter : parameters)
    operands.push_back({parameter, getRowMap(builder.getContext(), 3, 1)});
  auto body = [&](Code &inner, ValueRange elements) {
    Value q = inner.extendSign(elements[0], inner.getI32Type()), scale = elements[1];
    if (Value zero = elements[2])
      q = inner.subtract(q, inner.extendSign(zero, inner.getI32Type()));
    Value number = inner.toFloat(q, arithmetic);
    return elements[3] ? inner.fma(scale, number, inner.negate(elements[3])) : inner.multiply(scale, number);
  };
  Value weight =
      createElementwise(builder, operands, sizes, RankedTensorType::get(shape, arithmetic), arithmetic, body);
  weight.getDefiningOp()->setAttr(contraction::kIntegerWeightNote, builder.getI64IntegerAttr(group));
  return builder.create<tensor::CollapseShapeOp>(type.clone(arithmetic), weight, groups);
}

/// No sum of integers overflows.
static void requireFewTerms(Code &builder, OpFoldResult terms) {
  auto size = dyn_cast<Value>(terms);
  if (!size)
    return;
  Value number = arith::IndexCastOp::create(builder, builder.getI64Type(), size);
  std::string text =
      "input features of linear are {0}, expected at most " + std::to_string(kMostIntegerTerms) + " of integers";
  rows::RequireOp::create(builder, builder.isAtMost(number, kMostIntegerTerms), RESID_BAD_SHAPE, text, number);
}

/// Sums of integers times both scales, with the bias.
static Value scaleSums(Code &builder, const LinearOperands &layer, Value sums, ArrayRef<OpFoldResult> sizes) {
  LinearOp op = layer.op;
  int64_t rank = layer.getRank(), scaleRank = cast<RankedTensorType>(layer.xScale.getType()).getRank();
  AffineMap feature = getColumnMap(builder.getContext(), rank, 1);
  auto body = [&](Code &inner, ValueRange elements) {
    Value scale = inner.multiply(elements[1], elements[2]);
    Value scaled = inner.multiply(inner.toFloat(elements[0], layer.arithmetic), scale);
    return elements[3] ? inner.add(scaled, elements[3]) : scaled;
  };
  return createElementwise(builder,
                           {{sums, getIdentityMap(builder.getContext(), rank)},
                            {layer.xScale, getRowMap(builder.getContext(), rank, rank - scaleRank)},
                            {layer.weightScale, feature},
                            {layer.bias, feature}},
                           sizes, op.getType(), layer.arithmetic, body);
}

static Value lowerLinear(Code &builder, const LinearOperands &layer) {
  LinearOp op = layer.op;
  SmallVector<OpFoldResult> sizes = getSizes(builder, layer.x);
  sizes.back() = getSizes(builder, layer.weight)[op.getOutputAxis()];
  if (op.hasIntegerRows())
    requireFewTerms(builder, getSizes(builder, layer.x).back());
  Value chains = createChains(builder, layer, sizes);
  if (op.hasIntegerRows())
    return scaleSums(builder, layer, chains, sizes);
  if (!layer.bias)
    return chains.getType() == op.getType() ? chains : Value(tensor::CastOp::create(builder, op.getType(), chains));
  auto addBias = [](Code &inner, ValueRange elements) { return inner.add(elements[0], elements[1]); };
  AffineMap identity = getIdentityMap(builder.getContext(), layer.getRank());
  AffineMap feature = getColumnMap(builder.getContext(), layer.getRank(), 1);
  return createElementwise(builder, {{chains, identity}, {layer.bias, feature}}, sizes, op.getType(), layer.arithmetic,
                           addBias);
}

/// √(2/π), in more digits than f64 has.
static constexpr double kTanhScale = 0.79788456080286535588;

/// The steps of the op's definition. `alpha`, or null for 1, is a factor on what the logistic function is of.
static Value applyFunction(Code &builder, ActivationFunction function, Value x, Value alpha) {
  auto halfTimesOnePlus = [&](Value value) {
    Value half = builder.multiply(0.5, x);
    return builder.multiply(half, builder.add(1.0, value));
  };
  auto takePositive = [&] { return builder.select(builder.compare(arith::CmpFPredicate::UGT, x, 0.0), x, 0.0); };
  switch (function) {
  case ActivationFunction::ReLU:
    return takePositive();
  case ActivationFunction::ReLU2: {
    Value positive = takePositive();
    return builder.multiply(positive, positive);
  }
  case ActivationFunction::GELU:
    return halfTimesOnePlus(builder.create<math::ErfOp>(builder.multiply(x, llvm::numbers::inv_sqrt2)));
  case ActivationFunction::GELUTanh: {
    Value cube = builder.multiply(builder.multiply(x, x), x);
    Value sum = builder.add(x, builder.multiply(0.044715, cube));
    return halfTimesOnePlus(builder.create<math::TanhOp>(builder.multiply(kTanhScale, sum)));
  }
  case ActivationFunction::SiLU:
  case ActivationFunction::Sigmoid: {
    Value z = alpha ? builder.multiply(alpha, x) : x;
    Value power = builder.create<math::ExpOp>(builder.negate(z)), divisor = builder.add(1.0, power);
    return function == ActivationFunction::SiLU ? builder.divide(x, divisor) : builder.divide(1.0, divisor);
  }
  }
  llvm_unreachable("an activation without a lowering");
}

static Value lowerActivation(Code &builder, ActivationOp op, Value x, Value up) {
  const ActivationRule &rule = getActivationRule(op.getKind());
  auto type = cast<RankedTensorType>(x.getType());
  FloatType arithmetic = getArithmeticType(type.getElementType());
  AffineMap identity = getIdentityMap(builder.getContext(), type.getRank());
  auto body = [&](Code &inner, ValueRange elements) {
    Value element = elements[0], factor = elements[1], alpha;
    if (op.getLimit()) {
      Value limit = createConstant(inner, arithmetic, *op.getLimit());
      element = inner.create<arith::MinimumFOp>(element, limit);
      factor = inner.create<arith::MinimumFOp>(inner.create<arith::MaximumFOp>(factor, inner.negate(limit)), limit);
    }
    if (op.getAlpha())
      alpha = createConstant(inner, arithmetic, *op.getAlpha());
    if (rule.isClamped)
      factor = inner.add(factor, 1.0);
    Value value = applyFunction(inner, rule.function, element, alpha);
    return factor ? inner.multiply(value, factor) : value;
  };
  return createElementwise(builder, {{x, identity}, {up, identity}}, getSizes(builder, x), type, arithmetic, body);
}

namespace {
struct LowerActivation : OpConversionPattern<ActivationOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ActivationOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    rewriter.replaceOp(op, lowerActivation(builder, op, adaptor.getX(), adaptor.getUp()));
    return success();
  }
};

struct LowerLinear : OpConversionPattern<LinearOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LinearOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    LinearOperands layer{op,
                         adaptor.getX(),
                         adaptor.getWeight(),
                         adaptor.getXScale(),
                         adaptor.getWeightScale(),
                         adaptor.getBias(),
                         op.getArithmeticType()};
    if (op.getGroup())
      layer.weight = createWeight(builder, op, layer.weight,
                                  {adaptor.getWeightScale(), adaptor.getWeightZero(), adaptor.getWeightOffset()});
    rewriter.replaceOp(op, lowerLinear(builder, layer));
    return success();
  }
};
} // namespace

void resid::populateSubLayersToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerActivation, LowerLinear>(patterns.getContext());
}
