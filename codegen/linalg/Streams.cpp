// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family Streams but for Sinkhorn's iterations: streams are slices of one tensor, and what goes over
// them is unrolled, since their number is known.

#include "codegen/linalg/Patterns.h"
#include "codegen/linalg/StreamParts.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

/// Part `number` of a tensor along its dimension `dim`, without that dimension.
static Value takePart(ImplicitLocOpBuilder &builder, Value tensor, int64_t dim, int64_t number) {
  RankedTensorType type = typeOf(tensor);
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      steps(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = getSizes(builder, tensor);
  offsets[dim] = builder.getIndexAttr(number);
  sizes[dim] = builder.getIndexAttr(1);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  if (hasNoElements(type)) {
    sizes.erase(sizes.begin() + dim);
    return tensor::EmptyOp::create(builder, sizes, type.getElementType());
  }
  return tensor::ExtractSliceOp::create(builder, type.clone(shape), tensor, offsets, sizes, steps);
}

ElementwiseOperand resid::takeStream(ImplicitLocOpBuilder &builder, Value tensor, int64_t stream,
                                     ArrayRef<int64_t> shape) {
  if (!tensor)
    return {};
  Value part = takePart(builder, tensor, typeOf(tensor).getRank() - 2, stream);
  return {part, getBroadcastMap(typeOf(part), shape)};
}

/// The sizes of one stream.
static SmallVector<OpFoldResult> getStreamSizes(ImplicitLocOpBuilder &builder, Value x) {
  SmallVector<OpFoldResult> sizes = getSizes(builder, x);
  sizes.erase(sizes.end() - 2);
  return sizes;
}

Value resid::addProduct(ImplicitLocOpBuilder &builder, Value factor, Value value, Value sum) {
  if (factor && sum)
    return math::FmaOp::create(builder, factor, value, sum);
  if (factor)
    return arith::MulFOp::create(builder, factor, value);
  return sum ? Value(arith::AddFOp::create(builder, sum, value)) : value;
}

//===----------------------------------------------------------------------===//
// read, write, stream_dots
//===----------------------------------------------------------------------===//

static Value lowerRead(ImplicitLocOpBuilder &builder, ReadOp op, Value x, Value weights) {
  int64_t streams = typeOf(x).getShape().end()[-2];
  FloatType arithmetic = getArithmeticType(typeOf(x).getElementType());
  SmallVector<ElementwiseOperand> operands;
  for (int64_t i = 0; i < streams; ++i) {
    operands.push_back(takeStream(builder, x, i, op.getType().getShape()));
    operands.push_back(takeStream(builder, weights, i, op.getType().getShape()));
  }
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value sum;
    for (int64_t i = 0; i < streams; ++i)
      sum = addProduct(inner, elements[2 * i + 1], elements[2 * i], sum);
    if (!op.getScale().isExactlyValue(1.0))
      sum = arith::MulFOp::create(inner, createConstant(inner, arithmetic, op.getScale()), sum);
    return {sum};
  };
  return createElementwise(builder, operands, getStreamSizes(builder, x), op.getType(), arithmetic, body).front();
}

namespace {
/// A write goes over all streams of all rows: each reads the branch, and with a whole mix, all streams of its row.
struct WriteLowering {
  ImplicitLocOpBuilder &builder;
  WriteOp op;
  Value x, y, weights, mix;

  Value create();

private:
  /// The loops are the dimensions of x; these are all but the streams, and all but the features.
  AffineMap withoutLoop(int64_t back) const {
    int64_t rank = typeOf(x).getRank();
    return getIdentityMap(builder.getContext(), rank).dropResult(rank - back);
  }
  void addMix(SmallVectorImpl<ElementwiseOperand> &operands);
};
} // namespace

/// Pairs of a factor and of what it scales.
void WriteLowering::addMix(SmallVectorImpl<ElementwiseOperand> &operands) {
  int64_t rank = typeOf(x).getRank(), streams = typeOf(x).getShape().end()[-2];
  AffineMap identity = getIdentityMap(builder.getContext(), rank);
  if (!op.hasWholeMix()) {
    operands.push_back({mix, mix ? getBroadcastMap(typeOf(mix), typeOf(x).getShape()) : AffineMap()});
    operands.push_back({x, identity});
    return;
  }
  for (int64_t i = 0; i < streams; ++i) {
    // What stream i gives: a row of the mix, or with `transposed` a column, along the streams that get it.
    Value given = takePart(builder, mix, typeOf(mix).getRank() - (op.getTransposed() ? 1 : 2), i);
    AffineMap map = withoutLoop(1);
    if (typeOf(given).getRank() == 1)
      map = AffineMap::get(rank, 0, map.getResults().take_back(1), builder.getContext());
    operands.push_back({given, map});
    operands.push_back({takePart(builder, x, rank - 2, i), withoutLoop(2)});
  }
}

Value WriteLowering::create() {
  SmallVector<ElementwiseOperand> operands{
      {weights, weights ? getBroadcastMap(typeOf(weights), typeOf(x).getShape()) : AffineMap()},
      {y, y ? withoutLoop(2) : AffineMap()}};
  addMix(operands);
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value sum;
    for (size_t i = 0; i < elements.size(); i += 2)
      if (elements[i + 1])
        sum = addProduct(inner, elements[i], elements[i + 1], sum);
    return {sum};
  };
  return createElementwise(builder, operands, getSizes(builder, x), op.getType(),
                           getArithmeticType(typeOf(x).getElementType()), body)
      .front();
}

/// The products of all pairs as rows of their own, which are summed.
static Value lowerStreamDots(ImplicitLocOpBuilder &builder, StreamDotsOp op, Value a, Value b) {
  int64_t rank = op.getType().getRank();
  AffineMap all = getIdentityMap(builder.getContext(), rank + 1);
  SmallVector<OpFoldResult> sizes = getSizes(builder, a);
  sizes.insert(sizes.end() - 1, getSizes(builder, b)[rank - 2]);
  SmallVector<int64_t> shape(op.getType().getShape());
  shape.push_back(typeOf(a).getShape().back());
  FloatType arithmetic = op.getArithmeticType();
  auto body = [](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    return {arith::MulFOp::create(inner, elements[0], elements[1])};
  };
  Value products = createElementwise(builder, {{a, all.dropResult(rank - 1)}, {b, all.dropResult(rank - 2)}}, sizes,
                                     RankedTensorType::get(shape, arithmetic), arithmetic, body)
                       .front();
  return rows::RowSumsOp::create(builder, TypeRange(op.getType()), products, builder.getI64IntegerAttr(1)).getSums()[0];
}

static SmallVector<Value> lower(ImplicitLocOpBuilder &builder, ReadOp op, ReadOp::Adaptor operands) {
  return {lowerRead(builder, op, operands.getX(), operands.getWeights())};
}

static SmallVector<Value> lower(ImplicitLocOpBuilder &builder, WriteOp op, WriteOp::Adaptor operands) {
  WriteLowering lowering{builder, op, operands.getX(), operands.getY(), operands.getWeights(), operands.getMix()};
  return {lowering.create()};
}

static SmallVector<Value> lower(ImplicitLocOpBuilder &builder, StreamDotsOp op, StreamDotsOp::Adaptor operands) {
  return {lowerStreamDots(builder, op, operands.getA(), operands.getB())};
}

namespace {
template <typename Op> struct LowerStreams : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor operands,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, lower(builder, op, operands));
    return success();
  }
};
} // namespace

void resid::populateStreamsToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerStreams<ReadOp>, LowerStreams<WriteOp>, LowerStreams<StreamDotsOp>>(patterns.getContext());
}
