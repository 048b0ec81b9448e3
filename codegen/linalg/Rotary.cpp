// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of rotary embeddings: an elementwise op that reads each element and its partner.

#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/KeyRanges.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "dialect/Shapes.h"
#include "dialect/Slices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "runtime/resid.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
/// Lowers one op. Its steps are in the order in which they are called.
class RotaryLowering {
public:
  RotaryLowering(Code &builder, RotaryOp op, RotaryOp::Adaptor operands)
      : builder(builder), op(op), x(operands.getX()), cos(operands.getCos()), sin(operands.getSin()),
        offset(operands.getOffset()), type(cast<RankedTensorType>(x.getType())), pairs(op.getPairs()),
        sizes(getSizes(builder, x)), start(builder.getIndexAttr(0)), count(sizes[sizes.size() - 2]) {}

  Value lower();

private:
  bool isOfSamples() const { return offset && isa<RankedTensorType>(offset.getType()); }
  void requireRows();
  void requireRowsOfSamples();
  Value gatherRows(Value table);
  Value sliceTable(Value table);
  Value slicePositions();
  AffineExpr getPartner(AffineExpr column);
  AffineExpr getPair(AffineExpr column);
  Value turn();

  Code &builder;
  RotaryOp op;
  Value x, cos, sin, offset;
  RankedTensorType type;
  int64_t pairs;
  /// Those of x.
  SmallVector<OpFoldResult> sizes;
  /// The row of the tables for position 0, and how many positions are turned: none where the offset is refused, so that
  /// nothing is read beside the tables.
  OpFoldResult start, count;
  /// Those of what turn() gives.
  SmallVector<OpFoldResult> turnedSizes;
};
} // namespace

void RotaryLowering::requireRows() {
  Value isInside = builder.compare(arith::CmpIPredicate::sge, offset, 0);
  for (Value table : {cos, sin}) {
    Value last = builder.subtract(toI64(builder, getSizes(builder, table)[0]), toI64(builder, count));
    isInside = builder.both(isInside, builder.isAtMost(offset, last));
  }
  rows::RequireOp::create(builder, isInside, RESID_BAD_VALUE,
                          "offset of rotary is {0}, expected 0 or more, and a row of the tables for each position",
                          offset);
  Value first = arith::IndexCastOp::create(builder, builder.getIndexType(), offset);
  Value all = getValueOrCreateConstantIndexOp(builder, builder.getLoc(), count);
  start = builder.select(isInside, first, 0);
  count = builder.select(isInside, all, 0);
}

void RotaryLowering::requireRowsOfSamples() {
  Value rows = toI64(builder, getSizes(builder, cos)[0]);
  rows = builder.min(rows, toI64(builder, getSizes(builder, sin)[0]));
  requirePasts(builder, "an offset of rotary is negative, or the tables have no row for each position", offset,
               toI64(builder, count), rows);
}

/// The rows of a table for the positions of each sample: [batch, positions, pairs].
Value RotaryLowering::gatherRows(Value table) {
  MLIRContext *context = builder.getContext();
  SmallVector<OpFoldResult> all{sizes.front(), count, builder.getIndexAttr(pairs)};
  auto [shape, dynamic] = decomposeMixedValues(all);
  auto element = cast<FloatType>(getElementTypeOrSelf(table.getType()));
  Value rows = getValueOrCreateConstantIndexOp(builder, builder.getLoc(), getSizes(builder, table)[0]);
  auto body = [&](Code &inner, ValueRange elements) -> Value {
    Value first = arith::IndexCastOp::create(inner, inner.getIndexType(), elements[0]);
    Value row = inner.add(first, Value(linalg::IndexOp::create(inner, 1)));
    row = keepInside(inner, inner.compare(arith::CmpIPredicate::ult, row, rows), row);
    return tensor::ExtractOp::create(inner, table, ValueRange{row, Value(linalg::IndexOp::create(inner, 2))});
  };
  AffineMap ofSample = AffineMap::get(3, 0, getAffineDimExpr(0, context));
  return createElementwise(builder, {{offset, ofSample}}, all, RankedTensorType::get(shape, element), element, body);
}

/// The rows of the table that are used.
Value RotaryLowering::sliceTable(Value table) {
  if (isOfSamples())
    return gatherRows(table);
  if (!offset)
    return table;
  OpFoldResult one = builder.getIndexAttr(1), zero = builder.getIndexAttr(0), columns = builder.getIndexAttr(pairs);
  return extractSlice(builder, builder.getLoc(), /*type=*/nullptr, table, {start, zero}, {count, columns}, {one, one});
}

/// Those of x that are turned.
Value RotaryLowering::slicePositions() {
  if (!offset || isOfSamples())
    return x;
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
      strides(sizes.size(), builder.getIndexAttr(1));
  return extractSlice(builder, builder.getLoc(), /*type=*/nullptr, x, offsets, turnedSizes, strides);
}

/// For each column, that of the other element of its pair; any that is there for columns without a pair.
AffineExpr RotaryLowering::getPartner(AffineExpr column) {
  if (!op.getInterleaved())
    return (column + pairs) % (2 * pairs);
  bool isOdd = type.getShape().back() % 2 != 0;
  AffineExpr turned = isOdd ? column % (2 * pairs) : column;
  return turned + 1 - turned % 2 * 2;
}

/// The column of the tables.
AffineExpr RotaryLowering::getPair(AffineExpr column) {
  bool isWhole = type.getShape().back() == 2 * pairs;
  return !op.getInterleaved() ? column % pairs : (isWhole ? column : column % (2 * pairs)).floorDiv(2);
}

/// Each element with its partner, so that a row of a head stays one, and what makes it may join.
Value RotaryLowering::turn() {
  int64_t rank = type.getRank(), size = type.getShape().back();
  AffineMap all = getIdentityMap(builder.getContext(), rank);
  AffineExpr column = getAffineDimExpr(rank - 1, builder.getContext());
  auto movedTo = [&](ArrayRef<AffineExpr> rows, AffineExpr place) {
    SmallVector<AffineExpr> results(rows);
    results.push_back(place);
    return AffineMap::get(rank, 0, results, builder.getContext());
  };
  AffineMap partner = movedTo(all.getResults().drop_back(), getPartner(column));
  SmallVector<AffineExpr> rowOfTable{all.getResult(rank - 2)};
  if (isOfSamples())
    rowOfTable.insert(rowOfTable.begin(), all.getResult(0));
  AffineMap pair = movedTo(rowOfTable, getPair(column));
  auto numbersType = RankedTensorType::get({size}, builder.getI32Type());
  Value numbers = rows::ColumnNumbersOp::create(builder, numbersType, /*size=*/Value()), turned = slicePositions();
  // x1·c - x2·s has the bits of x1·c + (-x2)·s.
  auto body = [&](Code &inner, ValueRange elements) {
    Value number = elements[4];
    Value isFirst = op.getInterleaved() ? inner.isEqual(inner.both(number, 1), 0)
                                        : inner.compare(arith::CmpIPredicate::ult, number, pairs);
    Value other = inner.select(isFirst, inner.negate(elements[1]), elements[1]);
    Value sum = inner.add(inner.multiply(elements[0], elements[2]), inner.multiply(other, elements[3]));
    if (size == 2 * pairs)
      return sum;
    // What has no pair keeps its bits, also those of a NaN, which a conversion to f32 and back would change.
    Value own = elements[0];
    if (auto widened = own.getDefiningOp<arith::ExtFOp>())
      own = widened.getIn();
    return inner.select(inner.compare(arith::CmpIPredicate::ult, number, 2 * pairs),
                        inner.castFloat(sum, type.getElementType()), own);
  };
  auto result = cast<RankedTensorType>(turned.getType());
  return createElementwise(builder,
                           {{turned, all},
                            {turned, partner},
                            {sliceTable(cos), pair},
                            {sliceTable(sin), pair},
                            {numbers, movedTo({}, column)}},
                           turnedSizes, result, getArithmeticType(type.getElementType()), body);
}

Value RotaryLowering::lower() {
  if (isOfSamples())
    requireRowsOfSamples();
  else if (offset)
    requireRows();
  turnedSizes = sizes;
  turnedSizes[sizes.size() - 2] = count;
  Value turned = turn();
  if (!offset || isOfSamples())
    return turned;
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
      strides(sizes.size(), builder.getIndexAttr(1));
  Value whole = tensor::EmptyOp::create(builder, sizes, type.getElementType());
  Value result = insertSlice(builder, builder.getLoc(), turned, whole, offsets, turnedSizes, strides);
  return result.getType() == type ? result : Value(tensor::CastOp::create(builder, type, result));
}

namespace {
struct LowerRotary : OpConversionPattern<RotaryOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RotaryOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    rewriter.replaceOp(op, RotaryLowering(builder, op, adaptor).lower());
    return success();
  }
};
} // namespace

void resid::populateRotaryToLinalg(RewritePatternSet &patterns) { patterns.add<LowerRotary>(patterns.getContext()); }
