// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family Streams but for Sinkhorn's iterations: streams are slices of one tensor, and what goes over
// them is unrolled, since their number is known.

#include "codegen/linalg/Patterns.h"
#include "codegen/linalg/StreamParts.h"
#include "codegen/rows/RowsDialect.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

/// Part `number` of a tensor along its dimension `dim`, without that dimension.
static Value takePart(Code &builder, Value tensor, int64_t dim, int64_t number) {
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

Value resid::takeStream(Code &builder, Value tensor, int64_t stream) {
  if (auto joined = tensor.getDefiningOp<rows::JoinStreamsOp>())
    return joined.getStreams()[stream];
  return takePart(builder, tensor, typeOf(tensor).getRank() - 2, stream);
}

/// The same as an operand of an op over `shape`. Null stays null.
static ElementwiseOperand takeStreamOver(Code &builder, Value tensor, int64_t stream, ArrayRef<int64_t> shape) {
  if (!tensor)
    return {};
  Value part = takeStream(builder, tensor, stream);
  return {part, getBroadcastMap(typeOf(part), shape)};
}

/// The sizes of one stream.
static SmallVector<OpFoldResult> getStreamSizes(Code &builder, Value x) {
  SmallVector<OpFoldResult> sizes = getSizes(builder, x);
  sizes.erase(sizes.end() - 2);
  return sizes;
}

Value resid::addProduct(Code &builder, Value factor, Value value, Value sum) {
  if (factor && sum)
    return builder.fma(factor, value, sum);
  if (factor)
    return builder.multiply(factor, value);
  return sum ? builder.add(sum, value) : value;
}

//===----------------------------------------------------------------------===//
// read, write, stream_dots
//===----------------------------------------------------------------------===//

static Value lowerRead(Code &builder, ReadOp op, Value x, Value weights) {
  int64_t streams = typeOf(x).getShape().end()[-2];
  FloatType arithmetic = getArithmeticType(typeOf(x).getElementType());
  SmallVector<ElementwiseOperand> operands;
  for (int64_t i = 0; i < streams; ++i) {
    operands.push_back(takeStreamOver(builder, x, i, op.getType().getShape()));
    operands.push_back(takeStreamOver(builder, weights, i, op.getType().getShape()));
  }
  auto body = [&](Code &inner, ValueRange elements) {
    Value sum;
    for (int64_t i = 0; i < streams; ++i)
      sum = addProduct(inner, elements[2 * i + 1], elements[2 * i], sum);
    if (!op.getScale().isExactlyValue(1.0))
      sum = inner.multiply(createConstant(inner, arithmetic, op.getScale()), sum);
    return sum;
  };
  return createElementwise(builder, operands, getStreamSizes(builder, x), op.getType(), arithmetic, body);
}

namespace {
/// A write makes one stream after the other, so that what needs a row of all of them finds its streams side by side.
class WriteLowering {
public:
  WriteLowering(Code &builder, WriteOp op, WriteOp::Adaptor operands)
      : builder(builder), op(op), x(operands.getX()), y(operands.getY()), weights(operands.getWeights()),
        mix(operands.getMix()), sizes(getStreamSizes(builder, x)), shape(op.getType().getShape()) {
    shape.erase(shape.end() - 2);
  }

  Value create();

private:
  int64_t countStreams() const { return typeOf(x).getShape().end()[-2]; }
  ElementwiseOperand getMixed(int64_t from, int64_t to);
  Value createStream(int64_t stream);

  Code &builder;
  WriteOp op;
  Value x, y, weights, mix;
  /// Of one stream.
  SmallVector<OpFoldResult> sizes;
  SmallVector<int64_t> shape;
};
} // namespace

/// The number of the mix from one stream to another.
ElementwiseOperand WriteLowering::getMixed(int64_t from, int64_t to) {
  if (op.getTransposed())
    std::swap(from, to);
  int64_t rank = typeOf(mix).getRank();
  Value number = takePart(builder, takePart(builder, mix, rank - 2, from), rank - 2, to);
  bool isOfRows = rank > 2;
  MLIRContext *context = builder.getContext();
  return {number, isOfRows ? getRowMap(context, shape.size(), 1) : AffineMap::get(shape.size(), 0, context)};
}

/// Pairs of a factor and of what it scales: the branch, then the streams that are mixed.
Value WriteLowering::createStream(int64_t stream) {
  SmallVector<ElementwiseOperand> operands{takeStreamOver(builder, weights, stream, shape)};
  AffineMap identity = getIdentityMap(builder.getContext(), shape.size());
  operands.push_back({y, identity});
  for (int64_t from = 0; from < countStreams(); ++from) {
    if (op.hasWholeMix())
      operands.push_back(getMixed(from, stream));
    else if (from == stream)
      operands.push_back(takeStreamOver(builder, mix, stream, shape));
    else
      continue;
    operands.push_back({takeStream(builder, x, from), identity});
  }
  auto body = [&](Code &inner, ValueRange elements) {
    Value sum;
    for (size_t i = 0; i < elements.size(); i += 2)
      if (elements[i + 1])
        sum = addProduct(inner, elements[i], elements[i + 1], sum);
    return sum;
  };
  return createElementwise(builder, operands, sizes, op.getType().clone(shape),
                           getArithmeticType(typeOf(x).getElementType()), body);
}

Value WriteLowering::create() {
  Value result = tensor::EmptyOp::create(builder, getSizes(builder, x), op.getType().getElementType());
  if (hasNoElements(op.getType()))
    return result;
  SmallVector<Value> streams;
  for (int64_t stream = 0; stream < countStreams(); ++stream)
    streams.push_back(createStream(stream));
  return rows::JoinStreamsOp::create(builder, result.getType(), streams, result);
}

/// The stream of a tensor that has one.
static Value takeOnly(Code &builder, Value tensor) {
  return builder.createOrFold<tensor::CollapseShapeOp>(tensor, groupLastTwo(typeOf(tensor).getRank()));
}

/// The products of all pairs as rows of their own, which are summed. One stream of each is a row as it stands, so that
/// what else is done to the row may join.
static Value lowerStreamDots(Code &builder, StreamDotsOp op, Value a, Value b) {
  int64_t rank = op.getType().getRank();
  bool isSingle = typeOf(a).getDimSize(rank - 2) == 1 && typeOf(b).getDimSize(rank - 2) == 1;
  if (isSingle)
    a = takeOnly(builder, a), b = takeOnly(builder, b);
  AffineMap all = getIdentityMap(builder.getContext(), isSingle ? rank - 1 : rank + 1);
  SmallVector<OpFoldResult> sizes = getSizes(builder, a);
  SmallVector<int64_t> shape(typeOf(a).getShape());
  if (!isSingle) {
    sizes.insert(sizes.end() - 1, getSizes(builder, b)[rank - 2]);
    shape.insert(shape.end() - 1, typeOf(b).getDimSize(rank - 2));
  }
  FloatType arithmetic = op.getArithmeticType();
  auto body = [](Code &inner, ValueRange elements) { return inner.multiply(elements[0], elements[1]); };
  AffineMap ofA = isSingle ? all : all.dropResult(rank - 1), ofB = isSingle ? all : all.dropResult(rank - 2);
  Value products = createElementwise(builder, {{a, ofA}, {b, ofB}}, sizes, RankedTensorType::get(shape, arithmetic),
                                     arithmetic, body);
  auto type = RankedTensorType::get(ArrayRef(shape).drop_back(), arithmetic);
  Value sums = rows::RowSumsOp::create(builder, TypeRange(type), products, builder.getI64IntegerAttr(1)).getSums()[0];
  if (!isSingle)
    return sums;
  sizes.back() = builder.getIndexAttr(1);
  sizes.push_back(builder.getIndexAttr(1));
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 2 < rank; ++dim)
    groups.push_back({dim});
  if (!groups.empty())
    groups.back().append({rank - 2, rank - 1});
  return tensor::ExpandShapeOp::create(builder, op.getType(), sums, groups, sizes);
}

static SmallVector<Value> lower(Code &builder, ReadOp op, ReadOp::Adaptor operands) {
  return {lowerRead(builder, op, operands.getX(), operands.getWeights())};
}

static SmallVector<Value> lower(Code &builder, WriteOp op, WriteOp::Adaptor operands) {
  return {WriteLowering(builder, op, operands).create()};
}

static SmallVector<Value> lower(Code &builder, StreamDotsOp op, StreamDotsOp::Adaptor operands) {
  return {lowerStreamDots(builder, op, operands.getA(), operands.getB())};
}

namespace {
template <typename Op> struct LowerStreams : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor operands,
                                ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    rewriter.replaceOp(op, lower(builder, op, operands));
    return success();
  }
};
} // namespace

void resid::populateStreamsToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerStreams<ReadOp>, LowerStreams<WriteOp>, LowerStreams<StreamDotsOp>>(patterns.getContext());
}
