// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family Norm: the elementwise part of layer norm, RMS norm and dynamic tanh, and what follows from the
// row statistics. The statistics themselves stay ops of the rows dialect.

#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
/// The maps of a norm over the last dimensions of x.
struct NormMaps {
  NormMaps(Value x, int64_t normRank)
      : identity(getIdentityMap(x.getContext(), cast<RankedTensorType>(x.getType()).getRank())),
        row(getRowMap(x.getContext(), identity.getNumDims(), normRank)),
        column(getColumnMap(x.getContext(), identity.getNumDims(), normRank)) {}
  AffineMap identity, row, column;
};
} // namespace

/// y = fma(x̂, γ, β), or x̂·γ, or x̂; γ' = 1+γ takes γ's place where the norm is zero-centred. A narrow affine part
/// starts from x̂ rounded to the result's type.
static Value applyAffine(ImplicitLocOpBuilder &builder, Value normalized, Value gamma, Value beta,
                         const NormParameters &norm, Type resultElement) {
  auto arithmetic = cast<FloatType>(normalized.getType());
  if (norm.narrowAffine && (gamma || beta))
    normalized = convertFloat(builder, convertFloat(builder, normalized, resultElement), arithmetic);
  if (gamma && norm.zeroCenteredGamma)
    gamma = arith::AddFOp::create(builder, createConstant(builder, arithmetic, 1.0), gamma);
  if (gamma && beta)
    return math::FmaOp::create(builder, normalized, gamma, beta);
  if (gamma)
    return arith::MulFOp::create(builder, normalized, gamma);
  return beta ? Value(arith::AddFOp::create(builder, normalized, beta)) : normalized;
}

/// The row statistics that the user asked for: those of x itself, where they were taken on x·scale. Dividing by a power
/// of two, and multiplying by 1, changes no bit of a result that f32 can hold.
static SmallVector<Value> lowerLayerStatistics(ImplicitLocOpBuilder &builder, rows::LayerStatisticsOp statistics) {
  auto type = cast<RankedTensorType>(statistics.getRstd().getType());
  AffineMap map = getIdentityMap(builder.getContext(), type.getRank());
  SmallVector<OpFoldResult> sizes = getSizes(builder, statistics.getX());
  sizes.truncate(type.getRank());
  auto body = [](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value scale = elements[0], k = elements[1], e = elements[2], rstd = elements[3];
    Value mean = arith::AddFOp::create(inner, k, e);
    Value correction = arith::AddFOp::create(inner, arith::SubFOp::create(inner, k, mean), e);
    return {arith::DivFOp::create(inner, mean, scale), arith::DivFOp::create(inner, correction, scale),
            arith::MulFOp::create(inner, rstd, scale)};
  };
  return createElementwise(
      builder,
      {{statistics.getScale(), map}, {statistics.getK(), map}, {statistics.getE(), map}, {statistics.getRstd(), map}},
      sizes, {type, type, type}, cast<FloatType>(type.getElementType()), body);
}

SmallVector<Value> resid::lowerLayerNorm(ImplicitLocOpBuilder &builder, Value x, const NormParameters &norm,
                                         const APFloat &epsilon, Type resultType, bool withStatistics) {
  auto type = cast<RankedTensorType>(x.getType());
  FloatType arithmetic = getArithmeticType(type.getElementType());
  RankedTensorType rowType = getStatisticsType(type, norm.normRank);
  NormMaps maps(x, norm.normRank);
  auto statistics = rows::LayerStatisticsOp::create(builder, rowType, rowType, rowType, rowType, x,
                                                    builder.getF64FloatAttr(epsilon.convertToDouble()),
                                                    builder.getI64IntegerAttr(norm.normRank));
  // d = x·scale - k in one rounding: where scale is 1, which is nearly always, exactly x - k.
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value negated = arith::NegFOp::create(inner, elements[2]);
    Value d = math::FmaOp::create(inner, elements[0], elements[1], negated);
    Value centered = arith::SubFOp::create(inner, d, elements[3]);
    Value normalized = arith::MulFOp::create(inner, centered, elements[4]);
    return {applyAffine(inner, normalized, elements[5], elements[6], norm, getElementTypeOrSelf(resultType))};
  };
  SmallVector<Value> results = createElementwise(builder,
                                                 {{x, maps.identity},
                                                  {statistics.getScale(), maps.row},
                                                  {statistics.getK(), maps.row},
                                                  {statistics.getE(), maps.row},
                                                  {statistics.getRstd(), maps.row},
                                                  {norm.gamma, maps.column},
                                                  {norm.beta, maps.column}},
                                                 getSizes(builder, x), resultType, arithmetic, body);
  if (withStatistics)
    llvm::append_range(results, lowerLayerStatistics(builder, statistics));
  return results;
}

SmallVector<Value> resid::lowerRMSNorm(ImplicitLocOpBuilder &builder, Value x, const NormParameters &norm,
                                       const APFloat &epsilon, Type resultType, bool withStatistics) {
  auto type = cast<RankedTensorType>(x.getType());
  FloatType arithmetic = getArithmeticType(type.getElementType());
  RankedTensorType rowType = getStatisticsType(type, norm.normRank);
  NormMaps maps(x, norm.normRank);
  auto statistics =
      rows::RMSStatisticsOp::create(builder, rowType, rowType, x, builder.getF64FloatAttr(epsilon.convertToDouble()),
                                    builder.getI64IntegerAttr(norm.normRank));
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value scaled = arith::MulFOp::create(inner, elements[0], elements[1]);
    Value normalized = arith::MulFOp::create(inner, scaled, elements[2]);
    return {applyAffine(inner, normalized, elements[3], elements[4], norm, getElementTypeOrSelf(resultType))};
  };
  SmallVector<OpFoldResult> sizes = getSizes(builder, x);
  SmallVector<Value> results = createElementwise(builder,
                                                 {{x, maps.identity},
                                                  {statistics.getScale(), maps.row},
                                                  {statistics.getRstd(), maps.row},
                                                  {norm.gamma, maps.column},
                                                  {norm.beta, maps.column}},
                                                 sizes, resultType, arithmetic, body);
  if (!withStatistics)
    return results;
  AffineMap rowIdentity = getIdentityMap(builder.getContext(), rowType.getRank());
  auto unscale = [](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    return {arith::MulFOp::create(inner, elements[1], elements[0])};
  };
  sizes.truncate(rowType.getRank());
  llvm::append_range(
      results, createElementwise(builder, {{statistics.getScale(), rowIdentity}, {statistics.getRstd(), rowIdentity}},
                                 sizes, rowType, arithmetic, unscale));
  return results;
}

Value resid::lowerDyT(ImplicitLocOpBuilder &builder, Value x, Value alpha, const NormParameters &norm,
                      Type resultType) {
  auto type = cast<RankedTensorType>(x.getType());
  NormMaps maps(x, norm.normRank);
  AffineMap scalar = AffineMap::get(type.getRank(), 0, builder.getContext());
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value normalized = math::TanhOp::create(inner, arith::MulFOp::create(inner, elements[1], elements[0]));
    return {applyAffine(inner, normalized, elements[2], elements[3], norm, getElementTypeOrSelf(resultType))};
  };
  return createElementwise(builder,
                           {{x, maps.identity}, {alpha, scalar}, {norm.gamma, maps.column}, {norm.beta, maps.column}},
                           getSizes(builder, x), resultType, getArithmeticType(type.getElementType()), body)
      .front();
}

namespace {
struct LowerLayerNorm : OpConversionPattern<LayerNormOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LayerNormOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    NormParameters norm{adaptor.getGamma(), adaptor.getBeta(), op.getNormalizedRank(), op.getZeroCenteredGamma(),
                        op.getNarrowAffine()};
    rewriter.replaceOp(op, lowerLayerNorm(builder, adaptor.getX(), norm, op.getEpsilon(), op.getResult().getType(),
                                          !op.getStatistics().empty()));
    return success();
  }
};

struct LowerRMSNorm : OpConversionPattern<RMSNormOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RMSNormOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    NormParameters norm{adaptor.getGamma(), adaptor.getBeta(), op.getNormalizedRank(), op.getZeroCenteredGamma(),
                        op.getNarrowAffine()};
    rewriter.replaceOp(op, lowerRMSNorm(builder, adaptor.getX(), norm, op.getEpsilon(), op.getResult().getType(),
                                        !op.getStatistics().empty()));
    return success();
  }
};

struct LowerDyT : OpConversionPattern<DyTOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(DyTOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value parameter = op.getGamma() ? op.getGamma() : op.getBeta();
    int64_t rank = parameter ? cast<RankedTensorType>(parameter.getType()).getRank() : 0;
    NormParameters norm{adaptor.getGamma(), adaptor.getBeta(), rank, op.getZeroCenteredGamma(), op.getNarrowAffine()};
    rewriter.replaceOp(op, lowerDyT(builder, adaptor.getX(), adaptor.getAlpha(), norm, op.getType()));
    return success();
  }
};
} // namespace

void resid::populateNormToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerLayerNorm, LowerRMSNorm, LowerDyT>(patterns.getContext());
}
