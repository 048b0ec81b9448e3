// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of embeddings and their backward: a lookup for each element, and a loop over the rows that were looked up.
// Ids outside of the table are required not to be there, and name its first row.

#include "codegen/linalg/ElementConditions.h"
#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "runtime/resid.h"

using namespace mlir;
using namespace mlir::resid;

static constexpr StringLiteral outside = "an id of embedding lies outside of its table";

/// An id as an index, and whether it is below `size`: one unsigned comparison, since a negative number is a large
/// unsigned one.
static std::pair<Value, Value> readId(Code &builder, Value id, Value size) {
  Value index = arith::IndexCastOp::create(builder, builder.getIndexType(), id);
  return {index, builder.compare(arith::CmpIPredicate::ult, index, size)};
}

Value resid::keepInside(Code &builder, Value isInside, Value index) {
  auto kept = builder.create<arith::SelectOp>(isInside, index, builder.create<arith::ConstantIndexOp>(0));
  kept->setAttr(rows::kKeptInsideAttribute, builder.getUnitAttr());
  return kept;
}

void resid::requireIds(Code &builder, Value ids, Value size, std::optional<int64_t> other, StringRef text) {
  int64_t rank = cast<RankedTensorType>(ids.getType()).getRank();
  auto isKnown = [&](Code &inner, ValueRange elements) {
    Value holds = readId(inner, elements[0], size).second;
    return other ? inner.either(holds, inner.isEqual(elements[0], *other)) : holds;
  };
  Value all = holdsForAllPoints(builder, ids, getIdentityMap(builder.getContext(), rank), isKnown);
  rows::RequireOp::create(builder, all, RESID_BAD_VALUE, text, Value());
}

/// A size as an index.
static Value getSize(Code &builder, Value tensor, int64_t dimension) {
  return getValueOrCreateConstantIndexOp(builder, builder.getLoc(), getSizes(builder, tensor)[dimension]);
}

/// Requires that the table has a row, or that none is looked up. Sizes tell, so a call where it is not so is refused at
/// once, and nothing is read.
static void requireRows(Code &builder, Value count, ArrayRef<OpFoldResult> sizes) {
  if (matchPattern(count, m_NonZero()))
    return;
  Value elements = arith::ConstantIndexOp::create(builder, 1);
  for (OpFoldResult size : sizes)
    elements = builder.multiply(elements, getValueOrCreateConstantIndexOp(builder, builder.getLoc(), size));
  Value isEmpty = builder.isEqual(elements, 0), hasRows = builder.compare(arith::CmpIPredicate::ne, count, 0);
  rows::RequireOp::create(builder, builder.either(isEmpty, hasRows), RESID_BAD_VALUE, outside, Value());
}

namespace {
struct LowerEmbedding : OpConversionPattern<EmbeddingOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(EmbeddingOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    Value table = adaptor.getTable(), ids = adaptor.getIds();
    int64_t rank = op.getType().getRank();
    Value count = getSize(builder, table, 0);
    SmallVector<OpFoldResult> sizes = getSizes(builder, ids);
    sizes.push_back(getSizes(builder, table)[1]);
    requireRows(builder, count, sizes);
    requireIds(builder, ids, count, std::nullopt, outside);
    Value empty = tensor::EmptyOp::create(builder, sizes, op.getType().getElementType());
    SmallVector<AffineMap> maps{getRowMap(getContext(), rank, 1), getIdentityMap(getContext(), rank)};
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    auto body = [&](OpBuilder &nested, Location location, ValueRange elements) {
      Code inner(nested, location);
      auto [index, isInside] = readId(inner, elements[0], count);
      Value row = keepInside(inner, isInside, index), column = linalg::IndexOp::create(inner, rank - 1);
      linalg::YieldOp::create(inner, Value(tensor::ExtractOp::create(inner, table, ValueRange{row, column})));
    };
    Value found = linalg::GenericOp::create(builder, empty.getType(), ids, empty, maps, loops, body).getResult(0);
    if (found.getType() != op.getType())
      found = tensor::CastOp::create(builder, op.getType(), found);
    rewriter.replaceOp(op, found);
    return success();
  }
};
} // namespace

namespace {
struct LowerEmbeddingGrad : OpConversionPattern<EmbeddingGradOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(EmbeddingGradOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override;
};
} // namespace

/// All dimensions but the last `columns` as one.
static Value flattenRows(Code &builder, Value tensor, int64_t columns) {
  int64_t rows = cast<RankedTensorType>(tensor.getType()).getRank() - columns;
  if (rows == 1)
    return tensor;
  SmallVector<ReassociationIndices> groups{llvm::to_vector(llvm::seq<int64_t>(0, rows))};
  for (int64_t column = 0; column < columns; ++column)
    groups.push_back({rows + column});
  return tensor::CollapseShapeOp::create(builder, tensor, groups);
}

LogicalResult LowerEmbeddingGrad::matchAndRewrite(EmbeddingGradOp op, OpAdaptor adaptor,
                                                  ConversionPatternRewriter &rewriter) const {
  Code builder(rewriter, op.getLoc());
  Value table = adaptor.getTable();
  Value count = getSize(builder, table, 0), width = getSize(builder, table, 1);
  requireIds(builder, adaptor.getIds(), count, std::nullopt, outside);
  Value ids = flattenRows(builder, adaptor.getIds(), 0), dy = flattenRows(builder, adaptor.getDy(), 1);
  FloatType arithmetic = getArithmeticType(op.getType().getElementType());
  SmallVector<OpFoldResult> sizes = getSizes(builder, table);
  Value zero = createConstant(builder, arithmetic, 0.0);
  Value start =
      linalg::FillOp::create(builder, zero, Value(tensor::EmptyOp::create(builder, sizes, arithmetic))).getResult(0);
  // A table without rows takes none.
  Value first = arith::ConstantIndexOp::create(builder, 0), one = arith::ConstantIndexOp::create(builder, 1);
  Value hasRows = builder.compare(arith::CmpIPredicate::ne, count, first);
  Value end = builder.select(hasRows, getSize(builder, ids, 0), first);
  auto addRow = [&](Value row, ValueRange sums) {
    auto [index, isInside] = readId(builder, builder.create<tensor::ExtractOp>(ids, row), count);
    Value target = keepInside(builder, isInside, index);
    return builder.loop(first, width, one, sums, [&](Value column, ValueRange sum) -> SmallVector<Value> {
      Value old = builder.create<tensor::ExtractOp>(sum.front(), ValueRange{target, column});
      Value term = builder.create<tensor::ExtractOp>(dy, ValueRange{row, column});
      Value added = builder.add(old, builder.castFloat(term, arithmetic));
      return {builder.create<tensor::InsertOp>(added, sum.front(), ValueRange{target, column})};
    });
  };
  Value sum = builder.loop(first, end, one, start, addRow).front();
  if (op.getType().getElementType() != arithmetic)
    sum = createElementwise(builder, {{sum, getIdentityMap(getContext(), 2)}}, sizes, op.getType(), arithmetic,
                            takeElement);
  else if (sum.getType() != op.getType())
    sum = tensor::CastOp::create(builder, op.getType(), sum);
  rewriter.replaceOp(op, sum);
  return success();
}

void resid::populateEmbeddingToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerEmbedding, LowerEmbeddingGrad>(patterns.getContext());
}
