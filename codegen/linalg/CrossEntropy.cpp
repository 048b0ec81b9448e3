// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of cross-entropy and its backward: elementwise ops around the statistics of a softmax. The logit at the
// label is a sum in which all others are zeros, so that one kernel does all.

#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "runtime/resid.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
/// What the lowerings of both ops share.
struct LabelledRows {
  LabelledRows(Code &builder, Value logits, Value labels, std::optional<int64_t> ignoreIndex)
      : builder(builder), logits(logits), labels(labels), ignoreIndex(ignoreIndex),
        type(cast<RankedTensorType>(logits.getType())), arithmetic(getArithmeticType(type.getElementType())),
        identity(getIdentityMap(builder.getContext(), type.getRank())),
        row(getRowMap(builder.getContext(), type.getRank(), 1)), sizes(getSizes(builder, logits)) {}

  void requireLabels() const;
  /// The number of each column, as an operand of an op over the logits.
  ElementwiseOperand createColumns() const;
  /// In the body of an op over the logits, or over rows.
  Value isLabel(Code &inner, Value column, Value label) const;
  Value zeroIfIgnored(Code &inner, Value label, Value value) const;

  Code &builder;
  Value logits, labels;
  std::optional<int64_t> ignoreIndex;
  RankedTensorType type;
  FloatType arithmetic;
  AffineMap identity, row;
  SmallVector<OpFoldResult> sizes;
};
} // namespace

void LabelledRows::requireLabels() const {
  Value size = getValueOrCreateConstantIndexOp(builder, builder.getLoc(), sizes.back());
  if (type.isDynamicDim(type.getRank() - 1)) {
    // Columns are compared with labels as numbers of 32 bits.
    Value count = toI64(builder, sizes.back());
    Value fits = builder.isAtMost(count, int64_t(1) << 31);
    rows::RequireOp::create(builder, fits, RESID_BAD_VALUE,
                            "a row of cross_entropy has {0} logits, expected 2147483648 or less", count);
  }
  requireIds(builder, labels, size, ignoreIndex, "a label of cross_entropy lies outside of its row");
}

ElementwiseOperand LabelledRows::createColumns() const {
  auto numbers = RankedTensorType::get(type.getShape().take_back(), builder.getI32Type());
  Value size =
      numbers.isDynamicDim(0) ? getValueOrCreateConstantIndexOp(builder, builder.getLoc(), sizes.back()) : Value();
  return {rows::ColumnNumbersOp::create(builder, numbers, size), getColumnMap(builder.getContext(), type.getRank(), 1)};
}

Value LabelledRows::isLabel(Code &inner, Value column, Value label) const {
  if (label.getType() != column.getType())
    label = inner.castInteger(label, column.getType());
  return inner.isEqual(column, label);
}

Value LabelledRows::zeroIfIgnored(Code &inner, Value label, Value value) const {
  if (!ignoreIndex)
    return value;
  return inner.select(inner.isEqual(label, *ignoreIndex), 0.0, value);
}

namespace {
struct LowerCrossEntropy : OpConversionPattern<CrossEntropyOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(CrossEntropyOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    LabelledRows rows(builder, adaptor.getLogits(), adaptor.getLabels(), op.getIgnoreIndex());
    rows.requireLabels();
    Type wide = rows.type.clone(rows.arithmetic), perRow = getStatisticsType(rows.type, 1);
    auto pick = [&](Code &inner, ValueRange elements) {
      Value isLabel = rows.isLabel(inner, elements[2], elements[1]);
      return inner.select(isLabel, elements[0], createConstant(inner, rows.arithmetic, 0.0));
    };
    Value terms =
        createElementwise(builder, {{rows.logits, rows.identity}, {rows.labels, rows.row}, rows.createColumns()},
                          rows.sizes, wide, rows.arithmetic, pick);
    Value x = rows.logits;
    if (x.getType() != wide)
      x = createElementwise(builder, {{x, rows.identity}}, rows.sizes, wide, rows.arithmetic, takeElement);
    auto statistics = rows::SoftmaxStatisticsOp::create(builder, TypeRange{perRow, perRow, perRow}, x, terms, 1);
    rewriter.replaceOp(op, createResults(op, rows, statistics));
    return success();
  }

  /// The loss, and the logsumexp if that is a result; null where nobody reads it.
  static SmallVector<Value> createResults(CrossEntropyOp op, const LabelledRows &rows,
                                          rows::SoftmaxStatisticsOp statistics) {
    AffineMap each = getIdentityMap(op.getContext(), rows.type.getRank() - 1);
    ArrayRef<OpFoldResult> sizes = ArrayRef(rows.sizes).drop_back();
    auto create = [&](Value result, TermBody body) -> Value {
      if (result.use_empty())
        return {};
      SmallVector<ElementwiseOperand> operands;
      for (Value operand :
           {Value(statistics.getMax()), Value(statistics.getSum()), Value(statistics.getPicked()), rows.labels})
        operands.push_back({operand, each});
      return createElementwise(rows.builder, operands, sizes, result.getType(), rows.arithmetic, body);
    };
    SmallVector<Value> results{create(op.getLoss(), [&](Code &inner, ValueRange row) {
      Value distance = inner.subtract(row[0], row[2]);
      return rows.zeroIfIgnored(inner, row[3], inner.add(distance, math::LogOp::create(inner, row[1]).getResult()));
    })};
    if (op.getLogsumexp())
      results.push_back(create(op.getLogsumexp(), [&](Code &inner, ValueRange row) {
        return inner.add(row[0], math::LogOp::create(inner, row[1]).getResult());
      }));
    return results;
  }
};

struct LowerCrossEntropyGrad : OpConversionPattern<CrossEntropyGradOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(CrossEntropyGradOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    LabelledRows rows(builder, adaptor.getLogits(), adaptor.getLabels(), op.getIgnoreIndex());
    rows.requireLabels();
    auto body = [&](Code &inner, ValueRange elements) {
      Value p = math::ExpOp::create(inner, inner.subtract(elements[0], elements[2]));
      Value less = inner.subtract(p, createConstant(inner, rows.arithmetic, 1.0));
      p = inner.select(rows.isLabel(inner, elements[4], elements[1]), less, p);
      Value product = inner.multiply(p, elements[3]);
      return rows.zeroIfIgnored(inner, elements[1], product);
    };
    rewriter.replaceOp(op, createElementwise(builder,
                                             {{rows.logits, rows.identity},
                                              {rows.labels, rows.row},
                                              {adaptor.getLogsumexp(), rows.row},
                                              {adaptor.getDloss(), rows.row},
                                              rows.createColumns()},
                                             rows.sizes, op.getType(), rows.arithmetic, body));
    return success();
  }
};
} // namespace

void resid::populateCrossEntropyToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerCrossEntropy, LowerCrossEntropyGrad>(patterns.getContext());
}
