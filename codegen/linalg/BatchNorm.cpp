// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of batch norm and its backward op: sums down the rows, elementwise work on their results, and on all rows.

#include "codegen/linalg/ColumnSum.h"
#include "codegen/linalg/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

/// What the forward and the backward of one batch norm have in common: x, how its rows are gone through, and the rstd.
class BatchNormLowering {
public:
  BatchNormLowering(ImplicitLocOpBuilder &builder, Value x, const APFloat &epsilon)
      : builder(builder), x(x), type(cast<RankedTensorType>(x.getType())),
        arithmetic(getArithmeticType(type.getElementType())),
        identity(getIdentityMap(builder.getContext(), type.getRank())),
        column(getColumnMap(builder.getContext(), type.getRank(), 1)), sizes(getSizes(builder, x)), epsilon(epsilon) {}

  /// The mean and the variance of each column.
  SmallVector<Value> createStatistics();
  Value createNormalized(ValueRange statistics, Value gamma, Value beta, Type resultType);
  /// C(dy·x̂) and C(dy).
  SmallVector<Value> createSums(Value dy, ValueRange statistics);
  /// Without sums the statistics are fixed.
  Value createDx(Value dy, ValueRange statistics, ValueRange sums, Value gamma, Value dsum);

private:
  Value createRowCount();
  /// C(t)/M of a term t.
  Value createMean(ArrayRef<ElementwiseOperand> operands, TermBody body);
  /// An elementwise function of one tensor, of the columns.
  Value mapColumns(Value tensor, TermBody body);
  Value createReciprocalRoot(Value variance);

  ImplicitLocOpBuilder &builder;
  Value x;
  RankedTensorType type;
  FloatType arithmetic;
  AffineMap identity, column;
  SmallVector<OpFoldResult> sizes;
  APFloat epsilon;
};

} // namespace

/// How many rows there are, in the arithmetic type.
Value BatchNormLowering::createRowCount() {
  Value rows = arith::ConstantIndexOp::create(builder, 1);
  for (OpFoldResult size : ArrayRef(sizes).drop_back())
    rows = builder.createOrFold<arith::MulIOp>(rows, getValueOrCreateConstantIndexOp(builder, builder.getLoc(), size));
  Value count = arith::IndexCastOp::create(builder, builder.getI64Type(), rows);
  return arith::SIToFPOp::create(builder, arithmetic, count);
}

Value BatchNormLowering::mapColumns(Value tensor, TermBody body) {
  auto single = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    return {body(inner, elements)};
  };
  return createElementwise(builder, {{tensor, getIdentityMap(builder.getContext(), 1)}}, ArrayRef(sizes).take_back(),
                           tensor.getType(), arithmetic, single)
      .front();
}

Value BatchNormLowering::createMean(ArrayRef<ElementwiseOperand> operands, TermBody body) {
  Value sum = createColumnSum(builder, operands, sizes, /*columns=*/1, arithmetic, body);
  Value count = createRowCount();
  return mapColumns(sum, [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> Value {
    return arith::DivFOp::create(inner, elements[0], count);
  });
}

SmallVector<Value> BatchNormLowering::createStatistics() {
  Value mean = createMean({{x, identity}}, [](ImplicitLocOpBuilder &, ValueRange elements) { return elements[0]; });
  Value variance =
      createMean({{x, identity}, {mean, column}}, [](ImplicitLocOpBuilder &inner, ValueRange elements) -> Value {
        Value d = arith::SubFOp::create(inner, elements[0], elements[1]);
        return arith::MulFOp::create(inner, d, d);
      });
  return {mean, variance};
}

Value BatchNormLowering::createReciprocalRoot(Value variance) {
  return mapColumns(variance, [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> Value {
    Value sum = arith::AddFOp::create(inner, elements[0], createConstant(inner, arithmetic, epsilon));
    Value root = math::SqrtOp::create(inner, sum);
    return arith::DivFOp::create(inner, createConstant(inner, arithmetic, 1.0), root);
  });
}

/// x̂ of an element, its mean and its rstd.
static Value normalize(ImplicitLocOpBuilder &inner, Value element, Value mean, Value rstd) {
  return arith::MulFOp::create(inner, arith::SubFOp::create(inner, element, mean), rstd);
}

Value BatchNormLowering::createNormalized(ValueRange statistics, Value gamma, Value beta, Type resultType) {
  auto body = [](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value xhat = normalize(inner, elements[0], elements[1], elements[2]);
    if (elements[4])
      return {math::FmaOp::create(inner, xhat, elements[3], elements[4])};
    return {elements[3] ? Value(arith::MulFOp::create(inner, xhat, elements[3])) : xhat};
  };
  SmallVector<ElementwiseOperand> operands{{x, identity},
                                           {statistics[0], column},
                                           {createReciprocalRoot(statistics[1]), column},
                                           {gamma, column},
                                           {beta, column}};
  return createElementwise(builder, operands, sizes, resultType, arithmetic, body).front();
}

SmallVector<Value> BatchNormLowering::createSums(Value dy, ValueRange statistics) {
  Value rstd = createReciprocalRoot(statistics[1]);
  Value products = createColumnSum(
      builder, {{dy, identity}, {x, identity}, {statistics[0], column}, {rstd, column}}, sizes, /*columns=*/1,
      arithmetic, [](ImplicitLocOpBuilder &inner, ValueRange elements) -> Value {
        return arith::MulFOp::create(inner, elements[0], normalize(inner, elements[1], elements[2], elements[3]));
      });
  Value sum = createColumnSum(builder, {{dy, identity}}, sizes, /*columns=*/1, arithmetic,
                              [](ImplicitLocOpBuilder &, ValueRange elements) { return elements[0]; });
  return {products, sum};
}

Value BatchNormLowering::createDx(Value dy, ValueRange statistics, ValueRange sums, Value gamma, Value dsum) {
  enum Place { Dy, X, Mean, Rstd, ProductMean, ScaledMean, Gamma, Dsum };
  Value means[2];
  if (!sums.empty()) {
    Value count = createRowCount();
    for (auto [mean, sum] : llvm::zip_equal(means, sums))
      mean = mapColumns(sum, [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> Value {
        return arith::DivFOp::create(inner, elements[0], count);
      });
  }
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value u = elements[Dy], factor = elements[Rstd];
    if (!sums.empty()) {
      Value xhat = normalize(inner, elements[X], elements[Mean], elements[Rstd]);
      u = arith::SubFOp::create(inner, u, elements[ScaledMean]);
      u = math::FmaOp::create(inner, arith::NegFOp::create(inner, xhat), elements[ProductMean], u);
    }
    if (elements[Gamma])
      factor = arith::MulFOp::create(inner, elements[Gamma], factor);
    return {elements[Dsum] ? Value(math::FmaOp::create(inner, factor, u, elements[Dsum]))
                           : Value(arith::MulFOp::create(inner, factor, u))};
  };
  bool isFixed = sums.empty();
  SmallVector<ElementwiseOperand> operands{{dy, identity},
                                           {isFixed ? Value() : x, identity},
                                           {isFixed ? Value() : statistics[0], column},
                                           {createReciprocalRoot(statistics[1]), column},
                                           {means[0], column},
                                           {means[1], column},
                                           {gamma, column},
                                           {dsum, identity}};
  return createElementwise(builder, operands, sizes, type, arithmetic, body).front();
}

namespace {
struct LowerBatchNorm : OpConversionPattern<BatchNormOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(BatchNormOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    BatchNormLowering lowering(builder, adaptor.getX(), op.getEpsilon());
    SmallVector<Value> statistics(adaptor.getGiven());
    if (statistics.empty())
      statistics = lowering.createStatistics();
    SmallVector<Value> results{
        lowering.createNormalized(statistics, adaptor.getGamma(), adaptor.getBeta(), op.getResult().getType())};
    for (auto [statistic, result] : llvm::zip(statistics, op.getStatistics()))
      results.push_back(roundColumnSum(builder, statistic, result.getType()));
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerBatchNormGrad : OpConversionPattern<BatchNormGradOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(BatchNormGradOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
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
