// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family Norm: the elementwise part of layer norm, RMS norm, L2 norm and dynamic tanh, and what follows
// from the row statistics. The statistics themselves stay ops of the rows dialect.

#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "codegen/rows/StatisticsArithmetic.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "runtime/resid.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
/// The maps of a norm over the last dimensions of x; where there are groups, x has a dimension of them before these,
/// and so have gamma and beta.
struct NormMaps {
  explicit NormMaps(const NormParts &norm)
      : identity(getIdentityMap(norm.x.getContext(), cast<RankedTensorType>(norm.x.getType()).getRank())),
        row(getRowMap(norm.x.getContext(), identity.getNumDims(), norm.rank)),
        column(getColumnMap(norm.x.getContext(), identity.getNumDims(),
                            norm.groups ? norm.rank + 1 : norm.getParameterRank())) {}
  AffineMap identity, row, column;
};
} // namespace

/// y = fma(x̂, γ, β), or x̂·γ, or x̂; γ' = 1+γ takes γ's place where the norm is zero-centred. A narrow affine part
/// starts from x̂ rounded to the result's type.
static Value applyAffine(Code &builder, Value normalized, Value gamma, Value beta, const NormParts &norm,
                         Type resultElement) {
  auto arithmetic = cast<FloatType>(normalized.getType());
  if (norm.narrowAffine && (gamma || beta))
    normalized = builder.castFloat(builder.castFloat(normalized, resultElement), arithmetic);
  if (gamma && norm.zeroCenteredGamma)
    gamma = builder.add(1.0, gamma);
  if (gamma && beta)
    return builder.fma(normalized, gamma, beta);
  if (gamma)
    return builder.multiply(normalized, gamma);
  return beta ? builder.add(normalized, beta) : normalized;
}

/// The row statistics that the user asked for: those of x itself, where they were taken on x·scale.
static SmallVector<Value> lowerLayerStatistics(Code &builder, rows::LayerStatisticsOp statistics) {
  auto type = cast<RankedTensorType>(statistics.getRstd().getType());
  AffineMap map = getIdentityMap(builder.getContext(), type.getRank());
  SmallVector<OpFoldResult> sizes = getSizes(builder, statistics.getX());
  sizes.truncate(type.getRank());
  rows::StatisticsArithmetic arithmetic(cast<FloatType>(type.getElementType()), statistics.getEpsilon());
  auto body = [&](Code &inner, ValueRange elements) -> SmallVector<Value> {
    return arithmetic.createStored(inner, elements[0], elements[1], elements[2], elements[3]);
  };
  return createElementwise(
      builder,
      {{statistics.getScale(), map}, {statistics.getK(), map}, {statistics.getE(), map}, {statistics.getRstd(), map}},
      sizes, {type, type, type}, cast<FloatType>(type.getElementType()), body);
}

static SmallVector<Value> lowerLayerNorm(Code &builder, const NormParts &norm, Type resultType, bool withStatistics) {
  Value x = norm.x;
  auto type = cast<RankedTensorType>(x.getType());
  FloatType arithmetic = getArithmeticType(type.getElementType());
  RankedTensorType rowType = getStatisticsType(type, norm.rank);
  NormMaps maps(norm);
  auto statistics = rows::LayerStatisticsOp::create(builder, rowType, rowType, rowType, rowType, x, norm.epsilon,
                                                    builder.getI64IntegerAttr(norm.rank));
  // d = x·scale - k in one rounding: where scale is 1, which is nearly always, exactly x - k.
  auto body = [&](Code &inner, ValueRange elements) -> SmallVector<Value> {
    Value d = inner.fma(elements[0], elements[1], inner.negate(elements[2]));
    Value normalized = inner.multiply(inner.subtract(d, elements[3]), elements[4]);
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

/// An RMS norm, or an L2 norm, which has other statistics.
static SmallVector<Value> lowerRMSNorm(Code &builder, const NormParts &norm, Type resultType, bool withStatistics) {
  Value x = norm.x;
  auto type = cast<RankedTensorType>(x.getType());
  FloatType arithmetic = getArithmeticType(type.getElementType());
  RankedTensorType rowType = getStatisticsType(type, norm.rank);
  NormMaps maps(norm);
  auto statistics =
      rows::RMSStatisticsOp::create(builder, rowType, rowType, x, norm.epsilon, builder.getI64IntegerAttr(norm.rank),
                                    getNormRule(norm.kind).hasLength() ? builder.getUnitAttr() : UnitAttr());
  auto body = [&](Code &inner, ValueRange elements) -> SmallVector<Value> {
    Value normalized = inner.multiply(inner.multiply(elements[0], elements[1]), elements[2]);
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
  auto unscale = [](Code &inner, ValueRange elements) { return inner.multiply(elements[1], elements[0]); };
  sizes.truncate(rowType.getRank());
  results.push_back(createElementwise(builder,
                                      {{statistics.getScale(), rowIdentity}, {statistics.getRstd(), rowIdentity}},
                                      sizes, rowType, arithmetic, unscale));
  return results;
}

static SmallVector<Value> lowerDyT(Code &builder, const NormParts &norm, Type resultType) {
  Value x = norm.x;
  auto type = cast<RankedTensorType>(x.getType());
  NormMaps maps(norm);
  AffineMap scalar = AffineMap::get(type.getRank(), 0, builder.getContext());
  auto body = [&](Code &inner, ValueRange elements) -> SmallVector<Value> {
    Value normalized = inner.create<math::TanhOp>(inner.multiply(elements[1], elements[0]));
    return {applyAffine(inner, normalized, elements[2], elements[3], norm, getElementTypeOrSelf(resultType))};
  };
  return createElementwise(
      builder, {{x, maps.identity}, {norm.alpha, scalar}, {norm.gamma, maps.column}, {norm.beta, maps.column}},
      getSizes(builder, x), resultType, getArithmeticType(type.getElementType()), body);
}

RankedTensorType resid::getGroupedType(Type type, int64_t groups) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  int64_t columns = shape.pop_back_val();
  shape.append({groups, ShapedType::isDynamic(columns) ? columns : columns / groups});
  return tensor.clone(shape);
}

Value resid::splitGroups(Code &builder, Value tensor, int64_t groups) {
  if (!tensor)
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  RankedTensorType grouped = getGroupedType(type, groups);
  SmallVector<OpFoldResult> known = getSizes(builder, tensor), sizes;
  for (auto [dim, size] : llvm::enumerate(grouped.getShape()))
    if (!ShapedType::isDynamic(size))
      sizes.push_back(builder.getIndexAttr(size));
    else
      sizes.push_back(
          getValueOrCreateConstantIndexOp(builder, builder.getLoc(), known[std::min(dim, known.size() - 1)]));
  if (type.isDynamicDim(type.getRank() - 1))
    sizes.back() = builder.divide(cast<Value>(sizes.back()), groups);
  auto split = tensor::ExpandShapeOp::create(builder, grouped, tensor, groupLastTwo(type.getRank() + 1), sizes);
  markGroupReshape(split);
  return split;
}

Value resid::joinGroups(Code &builder, Value tensor, Type type) {
  int64_t rank = cast<RankedTensorType>(type).getRank();
  auto joined = tensor::CollapseShapeOp::create(builder, type, tensor, groupLastTwo(rank + 1));
  markGroupReshape(joined);
  return joined;
}

void resid::requireWholeGroups(Code &builder, Value x, int64_t groups) {
  auto size = dyn_cast<Value>(getSizes(builder, x).back());
  if (!size)
    return;
  Value isWhole = builder.isEqual(builder.remainder(size, groups), 0);
  std::string text = "features of group_norm are {0}, expected a multiple of " + std::to_string(groups);
  Value number = arith::IndexCastOp::create(builder, builder.getI64Type(), size);
  rows::RequireOp::create(builder, isWhole, RESID_BAD_SHAPE, text, number);
}

/// Layer norm of the groups as rows, one after another; gamma and beta have a row per group.
static SmallVector<Value> lowerGroupNorm(Code &builder, const NormParts &norm, Type resultType, bool withStatistics) {
  int64_t groups = norm.getGroupCount();
  requireWholeGroups(builder, norm.x, groups);
  NormParts grouped = norm;
  for (Value *operand : {&grouped.x, &grouped.gamma, &grouped.beta})
    *operand = splitGroups(builder, *operand, groups);
  SmallVector<Value> results = lowerLayerNorm(builder, grouped, getGroupedType(resultType, groups), withStatistics);
  results.front() = joinGroups(builder, results.front(), resultType);
  return results;
}

SmallVector<Value> resid::lowerNorm(Code &builder, const NormParts &norm, Type resultType, bool withStatistics) {
  switch (norm.kind) {
  case NormKind::Layer:
    return lowerLayerNorm(builder, norm, resultType, withStatistics);
  case NormKind::RMS:
  case NormKind::L2:
    return lowerRMSNorm(builder, norm, resultType, withStatistics);
  case NormKind::DyT:
    return lowerDyT(builder, norm, resultType);
  case NormKind::Group:
    return lowerGroupNorm(builder, norm, resultType, withStatistics);
  }
  llvm_unreachable("a norm kind without a lowering");
}

namespace {
struct LowerNorm : OpInterfaceConversionPattern<NormOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;
  LogicalResult matchAndRewrite(NormOpInterface op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    NormParts norm = op.getNormParts().withOperands(op->getOperands(), operands);
    rewriter.replaceOp(op, lowerNorm(builder, norm, op->getResult(0).getType(), op->getNumResults() > 1));
    return success();
  }
};
} // namespace

void resid::populateNormToLinalg(RewritePatternSet &patterns) { patterns.add<LowerNorm>(patterns.getContext()); }
