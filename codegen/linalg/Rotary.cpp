// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of rotary embeddings: an elementwise op that reads each element and its partner.

#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/KeyRanges.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "dialect/Shapes.h"
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
        sizes(getSizes(builder, x)) {}

  Value lower();

private:
  bool isOfSamples() const { return offset && isa<RankedTensorType>(offset.getType()); }
  void requireRows();
  Value gatherRows(Value table);
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
};
} // namespace

/// The last condition is one on sizes alone, so a call where it does not hold reads nothing.
void RotaryLowering::requireRows() {
  Value rows = toI64(builder, getSizes(builder, cos)[0]), positions = toI64(builder, sizes[sizes.size() - 2]);
  rows = builder.min(rows, toI64(builder, getSizes(builder, sin)[0]));
  if (isOfSamples())
    requirePasts(builder, "an offset of rotary is negative, or the tables have no row for each position", offset,
                 positions, rows);
  else
    rows::RequireOp::create(builder, fitsPast(builder, offset, positions, rows), RESID_BAD_VALUE,
                            "offset of rotary is {0}, expected 0 or more, and a row of the tables for each position",
                            offset);
  rows::RequireOp::create(builder, builder.isAtMost(positions, rows), RESID_BAD_VALUE,
                          "tables of rotary: expected a row for each position", Value());
}

/// The rows of a table that are used: [positions, pairs], or [batch, positions, pairs] where samples differ. All layers
/// with one offset share them.
Value RotaryLowering::gatherRows(Value table) {
  if (!offset)
    return table;
  SmallVector<OpFoldResult> all{sizes[sizes.size() - 2], builder.getIndexAttr(pairs)};
  if (isOfSamples())
    all.insert(all.begin(), sizes.front());
  int64_t rank = all.size();
  auto [shape, dynamic] = decomposeMixedValues(all);
  auto element = cast<FloatType>(getElementTypeOrSelf(table.getType()));
  Value rows = getValueOrCreateConstantIndexOp(builder, builder.getLoc(), getSizes(builder, table)[0]);
  auto body = [&](Code &inner, ValueRange elements) -> Value {
    Value first = arith::IndexCastOp::create(inner, inner.getIndexType(), isOfSamples() ? elements[0] : offset);
    Value row = inner.add(first, Value(linalg::IndexOp::create(inner, rank - 2)));
    row = keepInside(inner, inner.compare(arith::CmpIPredicate::ult, row, rows), row);
    return tensor::ExtractOp::create(inner, table, ValueRange{row, Value(linalg::IndexOp::create(inner, rank - 1))});
  };
  SmallVector<ElementwiseOperand> offsets;
  if (isOfSamples())
    offsets.push_back({offset, AffineMap::get(rank, 0, getAffineDimExpr(0, builder.getContext()))});
  return createElementwise(builder, offsets, all, RankedTensorType::get(shape, element), element, body);
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
  Value numbers = rows::ColumnNumbersOp::create(builder, numbersType, /*size=*/Value());
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
  return createElementwise(
      builder,
      {{x, all}, {x, partner}, {gatherRows(cos), pair}, {gatherRows(sin), pair}, {numbers, movedTo({}, column)}}, sizes,
      type, getArithmeticType(type.getElementType()), body);
}

Value RotaryLowering::lower() {
  if (offset)
    requireRows();
  return turn();
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
