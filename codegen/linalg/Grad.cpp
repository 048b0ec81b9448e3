// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family Grad: the backward of norms as elementwise ops, means of rows and sums down the rows. Which of
// them share a pass over the row is for rows/ to say.

#include "codegen/linalg/ColumnSum.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "dialect/NormGrad.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

/// The backward of one norm. x̂ and g are made anew from x and dy wherever they are read.
class NormGradLowering {
public:
  NormGradLowering(Code &builder, const NormGradParts &norm);

  Value createDx();
  /// Σ dy·x̂ or Σ dy, rounded to `type` after the arithmetic type. `dy` has its groups joined.
  Value createParameter(bool isGamma, Type type, Value dy);

private:
  /// Where elements stand among those of the operands.
  enum Place { Dy, X, Gamma, Statistics };
  /// x̂ from the elements of the operands.
  Value createNormalized(Code &inner, ValueRange elements) const;
  /// g = dy·γ'.
  Value createScaled(Code &inner, ValueRange elements) const;
  SmallVector<Value> createMeans();
  /// The terms of a sum whose rows have several statistics, in rows of all groups: a sum down the rows goes along all
  /// columns or none. Without a term they are dy.
  SmallVector<ElementwiseOperand> joinTerms(Value dy, TermBody term);

  Code &builder;
  const NormGradParts &norm;
  RankedTensorType type;
  FloatType arithmetic;
  /// How many trailing dimensions gamma has: with groups, or one for each stream, more than are normalised.
  int64_t columns;
  AffineMap identity, row, column;
  SmallVector<OpFoldResult> sizes;
  SmallVector<ElementwiseOperand> operands;
};

} // namespace

NormGradLowering::NormGradLowering(Code &builder, const NormGradParts &norm)
    : builder(builder), norm(norm), type(cast<RankedTensorType>(norm.x.getType())),
      arithmetic(getArithmeticType(type.getElementType())),
      columns(norm.groups ? norm.rank + 1 : norm.getParameterRank()),
      identity(getIdentityMap(builder.getContext(), type.getRank())),
      row(getRowMap(builder.getContext(), type.getRank(), norm.rank)),
      column(getColumnMap(builder.getContext(), type.getRank(), columns)), sizes(getSizes(builder, norm.x)) {
  operands = {{norm.dy, identity}, {norm.x, identity}, {norm.gamma, column}};
  for (Value statistic : norm.statistics)
    operands.push_back({statistic, row});
}

Value NormGradLowering::createNormalized(Code &inner, ValueRange elements) const {
  Value centered = elements[X];
  // All statistics but the last are parts of the mean.
  for (Value mean : elements.slice(Statistics, norm.statistics.size() - 1))
    centered = inner.subtract(centered, mean);
  return inner.multiply(centered, elements[Statistics + norm.statistics.size() - 1]);
}

Value NormGradLowering::createScaled(Code &inner, ValueRange elements) const {
  Value gamma = elements[Gamma];
  if (gamma && norm.zeroCenteredGamma)
    gamma = inner.add(1.0, gamma);
  return gamma ? inner.multiply(elements[Dy], gamma) : elements[Dy];
}

/// avg(g·x̂), and avg(g) where the norm takes the mean away; of a norm by length S(g·x̂).
SmallVector<Value> NormGradLowering::createMeans() {
  Type wide = type.clone(arithmetic);
  const NormRule &rule = getNormRule(norm.kind);
  bool centers = rule.centersRows;
  auto body = [&](Code &inner, ValueRange elements) -> SmallVector<Value> {
    Value scaled = createScaled(inner, elements);
    SmallVector<Value> results{inner.multiply(scaled, createNormalized(inner, elements))};
    if (centers)
      results.push_back(scaled);
    return results;
  };
  SmallVector<Type> types(centers ? 2 : 1, wide);
  SmallVector<Value> terms = createElementwise(builder, operands, sizes, types, arithmetic, body);
  SmallVector<Type> meanTypes(terms.size(), getStatisticsType(type, norm.rank));
  IntegerAttr rank = builder.getI64IntegerAttr(norm.rank);
  if (rule.hasLength())
    return llvm::to_vector(ValueRange(rows::RowSumsOp::create(builder, meanTypes, terms, rank).getSums()));
  auto means = rows::RowMeansOp::create(builder, meanTypes, terms, rank);
  return llvm::to_vector(ValueRange(means.getMeans()));
}

Value NormGradLowering::createDx() {
  SmallVector<Value> means = createMeans();
  SmallVector<ElementwiseOperand> all(operands);
  for (Value mean : means)
    all.push_back({mean, row});
  all.push_back({norm.dsum, identity});
  auto body = [&](Code &inner, ValueRange elements) {
    size_t firstMean = Statistics + norm.statistics.size();
    Value u = createScaled(inner, elements);
    if (means.size() > 1)
      u = inner.subtract(u, elements[firstMean + 1]);
    Value negated = inner.negate(createNormalized(inner, elements)), mean = elements[firstMean];
    Value rstd = elements[firstMean - 1], dsum = elements.back();
    if (getNormRule(norm.kind).hasLength())
      mean = inner.select(inner.isBelow(rstd, getStatisticOfShortRows(norm.epsilon, arithmetic).convertToDouble()),
                          mean, 0.0);
    u = inner.fma(negated, mean, u);
    return dsum ? inner.fma(rstd, u, dsum) : inner.multiply(rstd, u);
  };
  return createElementwise(builder, all, sizes, type, arithmetic, body);
}

SmallVector<ElementwiseOperand> NormGradLowering::joinTerms(Value dy, TermBody term) {
  AffineMap whole = getIdentityMap(builder.getContext(), cast<RankedTensorType>(dy.getType()).getRank());
  if (!term)
    return {{dy, whole}};
  Value terms = createElementwise(builder, operands, sizes, type.clone(arithmetic), arithmetic, term);
  if (norm.groups)
    terms = joinGroups(builder, terms, cast<RankedTensorType>(dy.getType()).clone(arithmetic));
  return {{terms, whole}};
}

Value NormGradLowering::createParameter(bool isGamma, Type resultType, Value dy) {
  auto product = [&](Code &inner, ValueRange elements) {
    return inner.multiply(elements[Dy], createNormalized(inner, elements));
  };
  // dγ reads all that x̂ is made of, dβ dy alone.
  SmallVector<ElementwiseOperand> used(operands);
  used[Gamma].tensor = Value();
  if (!isGamma)
    used.truncate(X);
  SmallVector<OpFoldResult> loops(sizes);
  bool isJoined = columns > norm.rank;
  if (isJoined) {
    used = joinTerms(dy, isGamma ? TermBody(product) : TermBody());
    loops = getSizes(builder, dy);
  }
  Value sum = createColumnSum(builder, used, loops, norm.groups ? norm.rank : columns, arithmetic,
                              isGamma && !isJoined ? TermBody(product) : TermBody(takeElement));
  return roundColumnSum(builder, sum, resultType);
}

/// The same norm of the groups as rows; gamma has a row per group.
static NormGradParts splitIntoGroups(Code &builder, const NormGradParts &norm) {
  NormGradParts grouped = norm;
  if (!norm.groups)
    return grouped;
  requireWholeGroups(builder, norm.x, norm.getGroupCount());
  for (Value *operand : {&grouped.dy, &grouped.x, &grouped.gamma, &grouped.dsum})
    *operand = splitGroups(builder, *operand, norm.getGroupCount());
  return grouped;
}

namespace {
template <typename NormGradOp> struct LowerNormGrad : OpConversionPattern<NormGradOp> {
  using OpConversionPattern<NormGradOp>::OpConversionPattern;
  LogicalResult matchAndRewrite(NormGradOp op, typename NormGradOp::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    NormGradParts given = getNormGradParts(op)->withOperands(op->getOperands(), adaptor.getOperands());
    NormGradParts norm = splitIntoGroups(builder, given);
    NormGradLowering lowering(builder, norm);
    // What nobody reads would still be a kernel's work.
    auto unless = [](Value result, llvm::function_ref<Value()> create) {
      return result.use_empty() ? Value() : create();
    };
    SmallVector<Value> results{unless(op.getDx(), [&] {
      Value dx = lowering.createDx();
      return norm.groups ? joinGroups(builder, dx, op.getDx().getType()) : dx;
    })};
    for (Value parameter : op.getParameters()) {
      bool isGamma = parameter == op.getParameters().front();
      results.push_back(
          unless(parameter, [&] { return lowering.createParameter(isGamma, parameter.getType(), given.dy); }));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void resid::populateGradToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerNormGrad<LayerNormGradOp>, LowerNormGrad<RMSNormGradOp>, LowerNormGrad<L2NormGradOp>,
               LowerNormGrad<GroupNormGradOp>>(patterns.getContext());
}
