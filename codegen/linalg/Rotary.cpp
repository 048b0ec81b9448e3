// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of rotary embeddings: an elementwise op over positions, pairs and the two elements of a pair.

#include "codegen/linalg/Elementwise.h"
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
  void requireRows();
  Value sliceTable(Value table);
  Value sliceColumns(int64_t first, int64_t columns, int64_t stride, OpFoldResult positions);
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

/// The rows of the table that are used.
Value RotaryLowering::sliceTable(Value table) {
  if (!offset)
    return table;
  OpFoldResult one = builder.getIndexAttr(1), zero = builder.getIndexAttr(0), columns = builder.getIndexAttr(pairs);
  return extractSlice(builder, builder.getLoc(), /*type=*/nullptr, table, {start, zero}, {count, columns}, {one, one});
}

/// Every so many elements of each head, of the first `positions`.
Value RotaryLowering::sliceColumns(int64_t first, int64_t columns, int64_t stride, OpFoldResult positions) {
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)), taken = sizes;
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  offsets.back() = builder.getIndexAttr(first);
  strides.back() = builder.getIndexAttr(stride);
  taken.back() = builder.getIndexAttr(columns);
  taken[taken.size() - 2] = positions;
  return extractSlice(builder, builder.getLoc(), /*type=*/nullptr, x, offsets, taken, strides);
}

/// The turned pairs: […, positions, 2, pairs], or […, positions, pairs, 2] where they are interleaved.
Value RotaryLowering::turn() {
  bool isInterleaved = op.getInterleaved();
  int64_t rank = type.getRank(), side = isInterleaved ? rank : rank - 1, pair = isInterleaved ? rank - 1 : rank;
  MLIRContext *context = builder.getContext();
  auto getMap = [&](ArrayRef<int64_t> dims) {
    return AffineMap::getMultiDimMapWithTargets(rank + 1, SmallVector<unsigned>(dims.begin(), dims.end()), context);
  };
  SmallVector<int64_t> head = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
  head.push_back(pair);
  AffineMap element = getMap(head), angle = getMap({rank - 2, pair});
  int64_t distance = isInterleaved ? 1 : pairs, stride = isInterleaved ? 2 : 1;
  Value x1 = sliceColumns(0, pairs, stride, count), x2 = sliceColumns(distance, pairs, stride, count);
  turnedSizes = sizes;
  turnedSizes[rank - 2] = count;
  turnedSizes.back() = builder.getIndexAttr(isInterleaved ? pairs : 2);
  turnedSizes.push_back(builder.getIndexAttr(isInterleaved ? 2 : pairs));
  // A row kernel over two columns would be slow: what asks for its index is a loop, in which LLVM sees both of a pair.
  Value isFirst;
  if (!isInterleaved) {
    auto sideType = RankedTensorType::get({2}, builder.getI1Type());
    isFirst = arith::ConstantOp::create(builder, DenseElementsAttr::get(sideType, ArrayRef<bool>{true, false}));
  }
  // x1·c - x2·s has the bits of x1·c + (-x2)·s.
  auto body = [&](Code &inner, ValueRange elements) {
    Value isFirstOfPair = elements[4];
    if (!isFirstOfPair)
      isFirstOfPair = inner.isEqual(Value(linalg::IndexOp::create(inner, rank)), 0);
    Value own = inner.select(isFirstOfPair, elements[0], elements[1]);
    Value other = inner.select(isFirstOfPair, inner.negate(elements[1]), elements[0]);
    return inner.add(inner.multiply(own, elements[2]), inner.multiply(other, elements[3]));
  };
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(turnedSizes, dynamic, shape);
  auto result = RankedTensorType::get(shape, type.getElementType());
  return createElementwise(
      builder,
      {{x1, element}, {x2, element}, {sliceTable(cos), angle}, {sliceTable(sin), angle}, {isFirst, getMap({side})}},
      turnedSizes, result, getArithmeticType(type.getElementType()), body);
}

Value RotaryLowering::lower() {
  OpFoldResult positions = count;
  if (offset)
    requireRows();
  Value turned = turn();
  int64_t rank = type.getRank();
  if (offset) {
    SmallVector<OpFoldResult> all = turnedSizes;
    all[rank - 2] = positions;
    SmallVector<OpFoldResult> offsets(rank + 1, builder.getIndexAttr(0)), strides(rank + 1, builder.getIndexAttr(1));
    Value whole = tensor::EmptyOp::create(builder, all, type.getElementType());
    turned = insertSlice(builder, builder.getLoc(), turned, whole, offsets, turnedSizes, strides);
  }
  Value result = tensor::CollapseShapeOp::create(builder, turned, groupLastTwo(rank + 1));
  int64_t size = type.getShape().back();
  if (2 * pairs != size) {
    Value rest = sliceColumns(2 * pairs, size - 2 * pairs, 1, positions);
    result = tensor::ConcatOp::create(builder, rank - 1, ValueRange{result, rest});
  }
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
