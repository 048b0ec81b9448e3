// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family Quantize: the largest magnitude of a row is a row statistic, and what follows from it is
// elementwise. Groups are rows of a tensor whose last dimension is split.

#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
/// A tensor as rows that have a scale each. Where the last dimension is split into groups, and the last group is short,
/// zeros stand after it.
class ScaledRows {
public:
  ScaledRows(Code &builder, Granularity granularity, std::optional<int64_t> group, Value tensor)
      : builder(builder), whole(cast<RankedTensorType>(tensor.getType())) {
    // A group that is longer than a row is the row.
    if (group)
      this->group = std::min(*group, whole.getShape().back());
    columns = granularity == Granularity::Tensor ? whole.getRank() : 1;
    sizes = getSizes(builder, tensor);
  }

  Value split(Value tensor) {
    if (group == 0)
      return tensor;
    if (int64_t missing = countGroups() * group - whole.getShape().back()) {
      auto type = cast<RankedTensorType>(tensor.getType());
      SmallVector<OpFoldResult> low(whole.getRank(), builder.getIndexAttr(0)), high = low;
      high.back() = builder.getIndexAttr(missing);
      Value zero = builder.create<arith::ConstantOp>(builder.getZeroAttr(type.getElementType()));
      tensor = tensor::PadOp::create(builder, getPaddedType(type), tensor, low, high, zero);
    }
    return splitGroups(builder, tensor, countGroups());
  }

  Value join(Value tensor, RankedTensorType type) {
    if (group == 0)
      return tensor;
    RankedTensorType padded = getPaddedType(type);
    tensor = joinGroups(builder, tensor, padded);
    if (padded == type)
      return tensor;
    SmallVector<OpFoldResult> zeros(type.getRank(), builder.getIndexAttr(0)),
        ones(type.getRank(), builder.getIndexAttr(1));
    return tensor::ExtractSliceOp::create(builder, type, tensor, zeros, sizes, ones);
  }

  /// What `type` is, with the last dimension split.
  RankedTensorType splitType(RankedTensorType type) const {
    return group == 0 ? type : getGroupedType(getPaddedType(type), countGroups());
  }

  /// How many of the last dimensions of the split tensor are a row.
  int64_t columns;

private:
  int64_t countGroups() const { return llvm::divideCeil(whole.getShape().back(), group); }
  RankedTensorType getPaddedType(RankedTensorType type) const {
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = countGroups() * group;
    return type.clone(shape);
  }

  Code &builder;
  /// How many elements of a row have one scale; 0: all of them.
  int64_t group = 0;
  RankedTensorType whole;
  SmallVector<OpFoldResult> sizes;
};
} // namespace

/// max|x| / 127 of each row, or NaN where that is no number.
static Value createScales(Code &builder, Value x, int64_t columns) {
  RankedTensorType type = getStatisticsType(cast<RankedTensorType>(x.getType()), columns);
  Value largest = rows::RowMagnitudesOp::create(builder, type, x, columns);
  SmallVector<OpFoldResult> sizes = getSizes(builder, x);
  sizes.truncate(type.getRank());
  auto body = [](Code &inner, ValueRange elements) {
    Value nan = inner.constant(inner.getF32Type(), std::numeric_limits<double>::quiet_NaN());
    Value isFinite = inner.isBelow(elements[0], std::numeric_limits<double>::infinity());
    return inner.select(isFinite, inner.divide(elements[0], 127.0), nan);
  };
  return createElementwise(builder, {{largest, getIdentityMap(builder.getContext(), type.getRank())}}, sizes, type,
                           builder.getF32Type(), body);
}

/// The integers of x; `isFound`: the scale is that of createScales.
static Value createIntegers(Code &builder, Value x, Value scale, int64_t columns, bool isFound) {
  auto type = cast<RankedTensorType>(x.getType());
  auto body = [isFound](Code &inner, ValueRange elements) {
    Value x = elements[0], scale = elements[1], isNumber;
    if (isFound) {
      // Then there is no NaN and no infinity in x.
      isNumber = inner.isAbove(scale, 0.0);
    } else {
      // 128 scales shall be a number, so that an infinity in x becomes one.
      Value isLarge = inner.isAbove(inner.absolute(scale), 0x1p100);
      Value factor = inner.select(isLarge, inner.constant(inner.getF32Type(), 0x1p-64), 1.0);
      x = inner.multiply(x, factor);
      scale = inner.multiply(scale, factor);
      // Where the scale is 0, x is too, or NaN, and the ratio is NaN.
      Value limit = inner.multiply(inner.absolute(scale), 128.0);
      x = inner.atLeast(inner.atMost(x, limit), inner.negate(limit));
    }
    Value ratio = inner.divideForInteger(x, scale);
    if (!isFound)
      isNumber = inner.compare(arith::CmpFPredicate::ORD, ratio, ratio);
    Value wide = inner.create<arith::FPToSIOp>(inner.getI32Type(), inner.roundToInteger(ratio));
    // As processors have it: narrowing that saturates.
    wide =
        inner.max(inner.min(wide, inner.constant(inner.getI32Type(), 127)), inner.constant(inner.getI32Type(), -128));
    Value narrow = inner.create<arith::TruncIOp>(inner.getI8Type(), wide);
    narrow = inner.max(narrow, inner.constant(inner.getI8Type(), -127));
    return inner.select(isNumber, narrow, inner.constant(inner.getI8Type(), 0));
  };
  return createElementwise(builder,
                           {{x, getIdentityMap(builder.getContext(), type.getRank())},
                            {scale, getRowMap(builder.getContext(), type.getRank(), columns)}},
                           getSizes(builder, x), type.clone(builder.getI8Type()), builder.getF32Type(), body);
}

/// Without a row there is nothing to compute; and groups, as slices of rows, would begin after the end.
template <typename OpTy> struct LowerNoRows : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value input = adaptor.getOperands().front();
    if (op.getGranularity() != Granularity::Group ||
        !llvm::is_contained(cast<ShapedType>(input.getType()).getShape().drop_back(), 0))
      return failure();
    Code builder(rewriter, op.getLoc());
    SmallVector<Value> results;
    for (Type type : op->getResultTypes()) {
      SmallVector<OpFoldResult> sizes = getSizes(builder, input);
      sizes.back() = builder.getIndexAttr(cast<ShapedType>(type).getShape().back());
      results.push_back(tensor::EmptyOp::create(builder, sizes, cast<ShapedType>(type).getElementType()));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

namespace {
struct LowerQuantize : OpConversionPattern<QuantizeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(QuantizeOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    ScaledRows rows(builder, op.getGranularity(), op.getGroup(), adaptor.getX());
    Value x = rows.split(adaptor.getX()), scale = adaptor.getStaticScale();
    SmallVector<Value> results;
    if (!scale)
      scale = createScales(builder, x, rows.columns);
    Value q = createIntegers(builder, x, scale, rows.columns, /*isFound=*/op.getScale() != nullptr);
    results.push_back(rows.join(q, op.getQ().getType()));
    if (op.getScale())
      results.push_back(scale);
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerDequantize : OpConversionPattern<DequantizeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(DequantizeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    ScaledRows rows(builder, op.getGranularity(), op.getGroup(), adaptor.getQ());
    Value q = rows.split(adaptor.getQ());
    int64_t rank = cast<RankedTensorType>(q.getType()).getRank();
    auto body = [](Code &inner, ValueRange elements) {
      return inner.multiply(inner.toFloat(elements[0], inner.getF32Type()), elements[1]);
    };
    Value result = createElementwise(builder,
                                     {{q, getIdentityMap(builder.getContext(), rank)},
                                      {adaptor.getScale(), getRowMap(builder.getContext(), rank, rows.columns)}},
                                     getSizes(builder, q), rows.splitType(op.getType()), builder.getF32Type(), body);
    rewriter.replaceOp(op, rows.join(result, op.getType()));
    return success();
  }
};
} // namespace

void resid::populateQuantizeToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerQuantize, LowerDequantize>(patterns.getContext());
  patterns.add<LowerNoRows<QuantizeOp>, LowerNoRows<DequantizeOp>>(patterns.getContext(), /*benefit=*/2);
}
