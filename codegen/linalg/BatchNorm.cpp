// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of batch norm and its backward op: sums down the rows, elementwise work on their results, and on all
// rows.

#include "codegen/linalg/ColumnSum.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "codegen/rows/StatisticsArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

/// What the forward and the backward of one batch norm have in common: x, how its rows are gone through, and the rstd.
class BatchNormLowering {
public:
  BatchNormLowering(Code &builder, Value x, const APFloat &epsilon)
      : builder(builder), x(x), type(cast<RankedTensorType>(x.getType())),
        arithmetic(getArithmeticType(type.getElementType())),
        identity(getIdentityMap(builder.getContext(), type.getRank())),
        column(getColumnMap(builder.getContext(), type.getRank(), 1)), sizes(getSizes(builder, x)), epsilon(epsilon),
        scalars(arithmetic, epsilon), rowCount(createRowCount()) {}

  /// Those of the batch, one of each for a column: x̂ = ((x·scale - k) - e)·rstd. The variance is that of x·scale.
  struct Statistics {
    Value scale, k, e, q, variance, rstd;
  };
  Statistics createStatistics();
  /// Mean, variance, mean_correction and rstd of x itself; as many of them as are asked for.
  SmallVector<Value> createStored(const Statistics &statistics, unsigned count);
  Value createNormalized(const Statistics &statistics, Value gamma, Value beta, Type resultType);
  /// With mean and variance that are handed in.
  Value createNormalized(ValueRange given, Value gamma, Value beta, Type resultType);

  /// C(dy·x̂) and C(dy).
  SmallVector<Value> createSums(Value dy, ValueRange statistics);
  /// Without sums the statistics are fixed.
  Value createDx(Value dy, ValueRange statistics, ValueRange sums, Value gamma, Value dsum);

private:
  Value createRowCount();
  /// C(t)/M of as many terms t as `body` makes of an element of x and numbers of its column. Under a condition that is
  /// false, numbers that say nothing.
  SmallVector<Value> createMeans(ValueRange columns, unsigned count, ElementwiseBody body, Value condition = {});
  /// An elementwise function of columns' numbers.
  SmallVector<Value> mapColumns(ValueRange columns, unsigned count, ElementwiseBody body);
  Value mapColumns(ValueRange columns, TermBody body);
  /// Whether any column has a number other than 0.
  Value isAny(Value numbers);
  void rescale(Statistics &statistics);
  Value createVariance(const Statistics &statistics);
  Value createReciprocalRoot(Value variance);
  /// The statistics that x̂ is made of in the backward: parts of the mean, and rstd.
  SmallVector<Value> getCenters(ValueRange statistics);

  Code &builder;
  Value x;
  RankedTensorType type;
  FloatType arithmetic;
  AffineMap identity, column;
  SmallVector<OpFoldResult> sizes;
  APFloat epsilon;
  rows::StatisticsArithmetic scalars;
  Value rowCount;
};

} // namespace

//===------------------------------------------- small parts ------------------------------------------------------===//

/// How many rows there are, in the arithmetic type.
Value BatchNormLowering::createRowCount() {
  Value rows = arith::ConstantIndexOp::create(builder, 1);
  for (OpFoldResult size : ArrayRef(sizes).drop_back())
    rows = builder.createOrFold<arith::MulIOp>(rows, getValueOrCreateConstantIndexOp(builder, builder.getLoc(), size));
  Value count = arith::IndexCastOp::create(builder, builder.getI64Type(), rows);
  return arith::SIToFPOp::create(builder, arithmetic, count);
}

SmallVector<Value> BatchNormLowering::createMeans(ValueRange columns, unsigned count, ElementwiseBody body,
                                                  Value condition) {
  SmallVector<ElementwiseOperand> operands{{x, identity}};
  for (Value numbers : columns)
    operands.push_back({numbers, column});
  SmallVector<Value> sums =
      createColumnSums(builder, operands, sizes, /*columns=*/1, arithmetic, count, body, condition);
  return mapColumns(sums, count, [&](Code &inner, ValueRange of) -> SmallVector<Value> {
    return llvm::map_to_vector(of, [&](Value sum) -> Value { return inner.divide(sum, rowCount); });
  });
}

SmallVector<Value> BatchNormLowering::mapColumns(ValueRange columns, unsigned count, ElementwiseBody body) {
  SmallVector<ElementwiseOperand> operands;
  for (Value numbers : columns)
    operands.push_back({numbers, getIdentityMap(builder.getContext(), 1)});
  SmallVector<Type> types(count, columns.front().getType());
  return createElementwise(builder, operands, ArrayRef(sizes).take_back(), types, arithmetic, body);
}

Value BatchNormLowering::mapColumns(ValueRange columns, TermBody body) {
  auto single = [&](Code &inner, ValueRange elements) -> SmallVector<Value> { return {body(inner, elements)}; };
  return mapColumns(columns, /*count=*/1, single).front();
}

Value BatchNormLowering::isAny(Value numbers) {
  auto sums = rows::RowSumsOp::create(builder, TypeRange(RankedTensorType::get({}, arithmetic)), numbers,
                                      builder.getI64IntegerAttr(1));
  Value sum = tensor::ExtractOp::create(builder, sums.getSums().front(), ValueRange());
  return builder.compare(arith::CmpFPredicate::UNE, sum, createConstant(builder, arithmetic, 0.0));
}

Value BatchNormLowering::createReciprocalRoot(Value variance) {
  return mapColumns(variance, [&](Code &inner, ValueRange elements) -> Value {
    Value sum = inner.add(elements[0], createConstant(inner, arithmetic, epsilon));
    Value root = inner.squareRoot(sum);
    return inner.divide(inner.constant(arithmetic, 1.0), root);
  });
}

//===------------------------------------------- statistics -------------------------------------------------------===//

/// d = x·scale - k in one rounding: where scale is 1, which is nearly always, exactly x - k.
static Value center(Code &inner, Value element, Value scale, Value k) {
  return inner.fma(element, scale, inner.negate(k));
}

/// What e and q are the means of.
static SmallVector<Value> withSquare(Code &inner, Value d) { return {d, inner.multiply(d, d)}; }

/// The definition is in docs/numerics.md. What a few columns need is added up for all, in rows that are gone through
/// only where one column needs it.
BatchNormLowering::Statistics BatchNormLowering::createStatistics() {
  Statistics statistics;
  statistics.k = createMeans({}, 1, [](Code &, ValueRange row) -> SmallVector<Value> { return {row[0]}; }).front();
  SmallVector<Value> means = createMeans(
      statistics.k, 2, [](Code &inner, ValueRange row) { return withSquare(inner, inner.subtract(row[0], row[1])); });
  statistics.e = means[0];
  statistics.q = means[1];
  rescale(statistics);
  statistics.variance = createVariance(statistics);
  statistics.rstd = mapColumns({statistics.variance, statistics.scale}, [&](Code &inner, ValueRange of) {
    return scalars.createReciprocalRoot(inner, of[0], of[1]);
  });
  return statistics;
}

/// Redoes k, e and q on x·scale in columns where they are not usable though the column is finite. The mean of |x| is
/// added up times `spare`, since the sum itself may overflow.
void BatchNormLowering::rescale(Statistics &statistics) {
  Value k = statistics.k, e = statistics.e, q = statistics.q;
  auto isScaled = [&](Code &inner, Value scale) -> Value {
    return inner.compare(arith::CmpFPredicate::UNE, scale, inner.constant(arithmetic, 1.0));
  };
  Value needs = mapColumns({k, e, q}, [&](Code &inner, ValueRange of) -> Value {
    return arith::UIToFPOp::create(inner, arithmetic, scalars.needsScale(inner, of));
  });
  Value isNeeded = isAny(needs);
  Value spare = mapColumns({k, e, q}, [&](Code &inner, ValueRange of) -> Value {
    Value one = inner.constant(arithmetic, 1.0);
    Value less = inner.constant(arithmetic, arithmetic.isF64() ? 0x1p-512 : 0x1p-64);
    return inner.select(scalars.isFinite(inner, of), one, less);
  });
  auto getSize = [](Code &inner, ValueRange row) -> SmallVector<Value> {
    Value magnitude = inner.absolute(row[0]);
    return {inner.multiply(magnitude, row[1])};
  };
  Value size = createMeans(spare, 1, getSize, isNeeded).front();
  Value scale = mapColumns({needs, spare, size}, [&](Code &inner, ValueRange of) -> Value {
    Value zero = inner.constant(arithmetic, 0.0), one = inner.constant(arithmetic, 1.0);
    Value isWanted = inner.compare(arith::CmpFPredicate::UNE, of[0], zero);
    Value applies = inner.both(isWanted, scalars.isFinite(inner, of[2]));
    Value power = inner.multiply(scalars.createPowerOfTwo(inner, of[2]), of[1]);
    return inner.select(applies, power, one);
  });
  auto choose = [&](Value scaled, Value unscaled) {
    return mapColumns({scale, scaled, unscaled}, [&](Code &inner, ValueRange of) -> Value {
      return inner.select(isScaled(inner, of[0]), of[1], of[2]);
    });
  };
  // Not a product alone, which would be a contraction: the sum of those has another order.
  auto multiply = [&](Code &inner, ValueRange row) -> SmallVector<Value> {
    return {center(inner, row[0], row[1], inner.constant(arithmetic, 0.0))};
  };
  statistics.scale = scale;
  statistics.k = choose(createMeans(scale, 1, multiply, isNeeded).front(), k);
  auto centerScaled = [](Code &inner, ValueRange row) {
    return withSquare(inner, center(inner, row[0], row[1], row[2]));
  };
  SmallVector<Value> means = createMeans({scale, statistics.k}, 2, centerScaled, isNeeded);
  statistics.e = choose(means[0], e);
  statistics.q = choose(means[1], q);
}

/// fma(-e, e, q), or where too many bits cancel, the mean of (d - e)².
Value BatchNormLowering::createVariance(const Statistics &statistics) {
  Value e = statistics.e, q = statistics.q;
  Value cancels = mapColumns({e, q}, [&](Code &inner, ValueRange of) -> Value {
    Value zero = inner.constant(arithmetic, 0.0), one = inner.constant(arithmetic, 1.0);
    return inner.select(scalars.isDirect(inner, of[0], of[1]), zero, one);
  });
  auto getSquare = [](Code &inner, ValueRange row) -> SmallVector<Value> {
    Value rest = inner.subtract(center(inner, row[0], row[1], row[2]), row[3]);
    return {inner.multiply(rest, rest)};
  };
  Value squares = createMeans({statistics.scale, statistics.k, e}, 1, getSquare, isAny(cancels)).front();
  return mapColumns({e, q, squares}, [&](Code &inner, ValueRange of) -> Value {
    Value direct = scalars.createDirectVariance(inner, of[0], of[1]);
    return inner.select(scalars.isDirect(inner, of[0], of[1]), direct, of[2]);
  });
}

SmallVector<Value> BatchNormLowering::createStored(const Statistics &statistics, unsigned count) {
  auto body = [&](Code &inner, ValueRange of) {
    SmallVector<Value> row = scalars.createStored(inner, of[0], of[1], of[2], of[4]);
    // One division at a time: scale² alone could leave the range.
    Value variance = inner.divide(inner.divide(of[3], of[0]), of[0]);
    row.insert(row.begin() + 1, variance);
    row.truncate(count);
    return row;
  };
  return mapColumns({statistics.scale, statistics.k, statistics.e, statistics.variance, statistics.rstd}, count, body);
}

//===------------------------------------------- elements ---------------------------------------------------------===//

/// x̂ of an element that has lost a part of the mean, or none: of `rest`, all but the last, which is rstd, are parts
/// too.
static Value normalize(Code &inner, Value element, ValueRange rest) {
  for (Value part : rest.drop_back())
    element = inner.subtract(element, part);
  return inner.multiply(element, rest.back());
}

static Value applyAffine(Code &inner, Value xhat, Value gamma, Value beta) {
  if (beta)
    return inner.fma(xhat, gamma, beta);
  return gamma ? inner.multiply(xhat, gamma) : xhat;
}

Value BatchNormLowering::createNormalized(const Statistics &statistics, Value gamma, Value beta, Type resultType) {
  auto body = [](Code &inner, ValueRange of) {
    Value xhat = normalize(inner, center(inner, of[0], of[1], of[2]), of.slice(3, 2));
    return applyAffine(inner, xhat, of[5], of[6]);
  };
  SmallVector<ElementwiseOperand> operands{{x, identity}};
  for (Value numbers : {statistics.scale, statistics.k, statistics.e, statistics.rstd, gamma, beta})
    operands.push_back({numbers, column});
  return createElementwise(builder, operands, sizes, resultType, arithmetic, body);
}

Value BatchNormLowering::createNormalized(ValueRange given, Value gamma, Value beta, Type resultType) {
  auto body = [](Code &inner, ValueRange of) {
    return applyAffine(inner, normalize(inner, of[0], of.slice(1, 2)), of[3], of[4]);
  };
  SmallVector<ElementwiseOperand> operands{{x, identity}};
  for (Value numbers : {given[0], createReciprocalRoot(given[1]), gamma, beta})
    operands.push_back({numbers, column});
  return createElementwise(builder, operands, sizes, resultType, arithmetic, body);
}

//===------------------------------------------- backward ---------------------------------------------------------===//

SmallVector<Value> BatchNormLowering::getCenters(ValueRange statistics) {
  if (statistics.size() == 2)
    return {statistics[0], createReciprocalRoot(statistics[1])};
  return llvm::to_vector(statistics);
}

SmallVector<Value> BatchNormLowering::createSums(Value dy, ValueRange statistics) {
  SmallVector<ElementwiseOperand> operands{{dy, identity}, {x, identity}};
  for (Value numbers : getCenters(statistics))
    operands.push_back({numbers, column});
  Value products =
      createColumnSum(builder, operands, sizes, /*columns=*/1, arithmetic, [](Code &inner, ValueRange of) -> Value {
        return inner.multiply(of[0], normalize(inner, of[1], of.drop_front(2)));
      });
  Value sum = createColumnSum(builder, {{dy, identity}}, sizes, /*columns=*/1, arithmetic,
                              [](Code &, ValueRange of) { return of[0]; });
  return {products, sum};
}

Value BatchNormLowering::createDx(Value dy, ValueRange statistics, ValueRange sums, Value gamma, Value dsum) {
  enum Place { Dy, X, ProductMean, ScaledMean, Gamma, Dsum, Centers };
  Value means[2];
  if (!sums.empty())
    for (auto [mean, sum] : llvm::zip_equal(means, sums))
      mean = mapColumns(sum, [&](Code &inner, ValueRange of) -> Value { return inner.divide(of[0], rowCount); });
  auto body = [&](Code &inner, ValueRange elements) {
    Value u = elements[Dy], factor = elements.back();
    if (!sums.empty()) {
      Value xhat = normalize(inner, elements[X], elements.drop_front(Centers));
      u = inner.subtract(u, elements[ScaledMean]);
      u = inner.fma(inner.negate(xhat), elements[ProductMean], u);
    }
    if (elements[Gamma])
      factor = inner.multiply(elements[Gamma], factor);
    return elements[Dsum] ? inner.fma(factor, u, elements[Dsum]) : inner.multiply(factor, u);
  };
  // Fixed statistics make dx of dy and rstd alone.
  SmallVector<Value> centers = getCenters(statistics);
  SmallVector<ElementwiseOperand> operands{{dy, identity},     {sums.empty() ? Value() : x, identity},
                                           {means[0], column}, {means[1], column},
                                           {gamma, column},    {dsum, identity}};
  for (Value numbers : sums.empty() ? ArrayRef(centers).take_back() : ArrayRef(centers))
    operands.push_back({numbers, column});
  return createElementwise(builder, operands, sizes, type, arithmetic, body);
}

namespace {
struct LowerBatchNorm : OpConversionPattern<BatchNormOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(BatchNormOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    BatchNormLowering lowering(builder, adaptor.getX(), op.getEpsilon());
    Value gamma = adaptor.getGamma(), beta = adaptor.getBeta();
    Type type = op.getResult().getType();
    if (!adaptor.getGiven().empty()) {
      rewriter.replaceOp(op, lowering.createNormalized(adaptor.getGiven(), gamma, beta, type));
      return success();
    }
    BatchNormLowering::Statistics statistics = lowering.createStatistics();
    SmallVector<Value> results{lowering.createNormalized(statistics, gamma, beta, type)};
    if (!op.getStatistics().empty())
      for (auto [statistic, result] :
           llvm::zip_equal(lowering.createStored(statistics, op.getStatistics().size()), op.getStatistics()))
        results.push_back(roundColumnSum(builder, statistic, result.getType()));
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerBatchNormGrad : OpConversionPattern<BatchNormGradOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(BatchNormGradOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    BatchNormLowering lowering(builder, adaptor.getX(), op.getEpsilon());
    SmallVector<Value> sums = lowering.createSums(adaptor.getDy(), adaptor.getStatistics()), results;
    results.push_back(lowering.createDx(adaptor.getDy(), adaptor.getStatistics(),
                                        op.getFixedStatistics() ? ValueRange() : ValueRange(sums), adaptor.getGamma(),
                                        adaptor.getDsum()));
    for (auto [sum, parameter] : llvm::zip(sums, op.getParameters()))
      results.push_back(roundColumnSum(builder, sum, parameter.getType()));
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void resid::populateBatchNormToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerBatchNorm, LowerBatchNormGrad>(patterns.getContext());
}
