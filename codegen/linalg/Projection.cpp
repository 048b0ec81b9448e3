// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the projection of all streams: the statistics of an RMS norm whose squares are added up over the streams
// first, and products in chains.

#include "codegen/linalg/Patterns.h"
#include "codegen/linalg/StreamParts.h"
#include "codegen/rows/RowsDialect.h"
#include "codegen/rows/StatisticsArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

namespace {
/// A product of all streams after their norm.
class ProjectLowering {
public:
  ProjectLowering(ImplicitLocOpBuilder &builder, ProjectOp op, Value x, Value weight)
      : builder(builder), op(op), x(x), weight(weight), arithmetic(op.getArithmeticType()),
        rowType(op.getZ().getType().clone(op.getZ().getType().getShape().drop_back())),
        statistics(arithmetic, op.getEpsilon()), rowSizes(getSizes(builder, x)),
        row(getIdentityMap(builder.getContext(), rowType.getRank())) {
    features = rowSizes.back();
    rowSizes.resize(rowType.getRank());
  }

  SmallVector<Value> create();

private:
  int64_t getStreams() const { return typeOf(x).getShape().end()[-2]; }
  /// The squares of all streams, added up for each feature of x·scale; and where `withMagnitudes`, the largest ones.
  SmallVector<Value> createSquares(Value scale, bool withMagnitudes);
  Value createScale();
  /// rstd of x·scale.
  Value createRoot(Value scale);
  /// How many numbers all streams have.
  Value createCount();
  /// p of x·scale, whose streams are one dimension of features here.
  Value createProducts(Value scaled);
  Value createChain(ImplicitLocOpBuilder &inner, Value scaled, OpFoldResult first, OpFoldResult size);
  /// Adds a chain to the sum of those before it, unless it is the first, or has no numbers.
  Value addChain(ImplicitLocOpBuilder &inner, Value sum, Value chain, Value isFirst, Value isEmpty);
  Value createScaled(Value scale);
  SmallVector<OpFoldResult> getOutputSizes() const {
    SmallVector<OpFoldResult> sizes(rowSizes);
    sizes.push_back(builder.getIndexAttr(typeOf(weight).getDimSize(0)));
    return sizes;
  }

  ImplicitLocOpBuilder &builder;
  ProjectOp op;
  Value x, weight;
  FloatType arithmetic;
  RankedTensorType rowType;
  rows::StatisticsArithmetic statistics;
  SmallVector<OpFoldResult> rowSizes;
  OpFoldResult features;
  AffineMap row;
};
} // namespace

SmallVector<Value> ProjectLowering::createSquares(Value scale, bool withMagnitudes) {
  SmallVector<int64_t> shape(rowType.getShape());
  shape.push_back(typeOf(x).getShape().back());
  SmallVector<OpFoldResult> sizes(rowSizes);
  sizes.push_back(features);
  SmallVector<ElementwiseOperand> operands{{scale, getRowMap(builder.getContext(), shape.size(), 1)}};
  for (int64_t i = 0; i < getStreams(); ++i)
    operands.push_back(takeStream(builder, x, i, shape));
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value sum, largest;
    for (Value element : elements.drop_front()) {
      if (elements[0])
        element = arith::MulFOp::create(inner, element, elements[0]);
      sum = addProduct(inner, element, element, sum);
      Value magnitude = math::AbsFOp::create(inner, element);
      largest = largest ? Value(arith::MaximumFOp::create(inner, largest, magnitude)) : magnitude;
    }
    return withMagnitudes ? SmallVector<Value>{largest, sum} : SmallVector<Value>{sum};
  };
  SmallVector<Type> types(withMagnitudes ? 2 : 1, RankedTensorType::get(shape, arithmetic));
  return createElementwise(builder, operands, sizes, types, arithmetic, body);
}

Value ProjectLowering::createCount() {
  if (auto constant = getConstantIntValue(features))
    return createConstant(builder, arithmetic, static_cast<double>(*constant * getStreams()));
  Value count =
      arith::MulIOp::create(builder, toI64(builder, features), arith::ConstantIntOp::create(builder, getStreams(), 64));
  return arith::SIToFPOp::create(builder, arithmetic, count);
}

/// 1, or the power of two of a row that has to be scaled: it is finite, but the mean of its squares is not, or too
/// small.
Value ProjectLowering::createScale() {
  SmallVector<Value> squares = createSquares(Value(), /*withMagnitudes=*/true);
  // The largest magnitude and the sum of squares in one op; nobody reads its logarithm.
  auto found = rows::SoftmaxStatisticsOp::create(builder, rowType, rowType, rowType, squares[0], squares[1], 1);
  Value count = createCount();
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value mean = Value(arith::DivFOp::create(inner, elements[1], count));
    Value isFinite = statistics.isFinite(inner, elements[0]);
    Value needsScale = arith::AndIOp::create(inner, isFinite, statistics.needsScale(inner, mean));
    Value power = statistics.createPowerOfTwo(inner, elements[0]);
    return {arith::SelectOp::create(inner, needsScale, power, statistics.createConstant(inner, 1.0))};
  };
  return createElementwise(builder, {{found.getMax(), row}, {found.getPicked(), row}}, rowSizes, rowType, arithmetic,
                           body)
      .front();
}

Value ProjectLowering::createRoot(Value scale) {
  Value squares = createSquares(scale, /*withMagnitudes=*/false).front();
  Value sum = rows::RowSumsOp::create(builder, TypeRange(rowType), squares, builder.getI64IntegerAttr(1)).getSums()[0];
  Value count = createCount();
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    return {statistics.createReciprocalRoot(inner, arith::DivFOp::create(inner, elements[0], count), elements[1])};
  };
  return createElementwise(builder, {{sum, row}, {scale, row}}, rowSizes, rowType, arithmetic, body).front();
}

Value ProjectLowering::createScaled(Value scale) {
  int64_t rank = typeOf(x).getRank();
  auto body = [](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    return {arith::MulFOp::create(inner, elements[0], elements[1])};
  };
  Value scaled =
      createElementwise(
          builder, {{x, getIdentityMap(builder.getContext(), rank)}, {scale, getRowMap(builder.getContext(), rank, 2)}},
          getSizes(builder, x), typeOf(x).clone(arithmetic), arithmetic, body)
          .front();
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 2 < rank; ++dim)
    groups.push_back({dim});
  groups.push_back({rank - 2, rank - 1});
  return tensor::CollapseShapeOp::create(builder, scaled, groups);
}

/// So many columns from `first` on.
static Value takeColumns(ImplicitLocOpBuilder &builder, Value tensor, OpFoldResult first, OpFoldResult size) {
  int64_t rank = typeOf(tensor).getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)), steps(rank, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = getSizes(builder, tensor);
  offsets.back() = first;
  sizes.back() = size;
  if (hasNoElements(typeOf(tensor)))
    return tensor::EmptyOp::create(builder, sizes, typeOf(tensor).getElementType());
  return tensor::ExtractSliceOp::create(builder, tensor, offsets, sizes, steps);
}

/// One chain for each element of p: a contraction from +0.
Value ProjectLowering::createChain(ImplicitLocOpBuilder &inner, Value scaled, OpFoldResult first, OpFoldResult size) {
  Value left = takeColumns(inner, scaled, first, size), right = takeColumns(inner, weight, first, size);
  Value empty = tensor::EmptyOp::create(inner, getOutputSizes(), arithmetic);
  Value zeros = linalg::FillOp::create(inner, createConstant(inner, arithmetic, 0.0), empty).getResult(0);
  int64_t loops = typeOf(empty).getRank() + 1;
  AffineMap all = getIdentityMap(inner.getContext(), loops);
  SmallVector<AffineMap> maps{all.dropResult(loops - 2), getColumnMap(inner.getContext(), loops, 2),
                              all.dropResult(loops - 1)};
  SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  auto body = [&](OpBuilder &nested, Location location, ValueRange elements) {
    ImplicitLocOpBuilder deepest(location, nested);
    Value a = convertFloat(deepest, elements[0], arithmetic), b = convertFloat(deepest, elements[1], arithmetic);
    linalg::YieldOp::create(deepest, Value(math::FmaOp::create(deepest, a, b, elements[2])));
  };
  return linalg::GenericOp::create(inner, TypeRange(zeros.getType()), ValueRange{left, right}, ValueRange(zeros), maps,
                                   iterators, body)
      .getResult(0);
}

/// Chains of so many numbers, which are added in ascending order.
static constexpr int64_t kChain = 1024;

Value ProjectLowering::addChain(ImplicitLocOpBuilder &inner, Value sum, Value chain, Value isFirst, Value isEmpty) {
  AffineMap identity = getIdentityMap(inner.getContext(), typeOf(chain).getRank());
  auto add = [&](ImplicitLocOpBuilder &deepest, ValueRange elements) -> SmallVector<Value> {
    Value result = arith::AddFOp::create(deepest, elements[0], elements[1]);
    if (isEmpty)
      result = arith::SelectOp::create(deepest, isEmpty, elements[0], result);
    return {isFirst ? Value(arith::SelectOp::create(deepest, isFirst, elements[1], result)) : result};
  };
  return createElementwise(inner, {{sum, identity}, {chain, identity}}, getOutputSizes(), chain.getType(), arithmetic,
                           add)
      .front();
}

Value ProjectLowering::createProducts(Value scaled) {
  int64_t columns = typeOf(scaled).getShape().back();
  OpFoldResult size = getSizes(builder, scaled).back(), whole = builder.getIndexAttr(kChain);
  if (!ShapedType::isDynamic(columns) && columns <= kChain)
    return createChain(builder, scaled, builder.getIndexAttr(0), size);
  // Whole chains in a loop, and what is left after them: the sizes in a loop do not depend on its iteration.
  Value zero = arith::ConstantIndexOp::create(builder, 0), step = arith::ConstantIndexOp::create(builder, kChain);
  Value all = getValueOrCreateConstantIndexOp(builder, builder.getLoc(), size);
  Value rest = builder.createOrFold<arith::RemUIOp>(all, step), end = builder.createOrFold<arith::SubIOp>(all, rest);
  auto isZero = [&](ImplicitLocOpBuilder &inner, Value value) -> Value {
    return arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, value, zero);
  };
  Value empty = tensor::EmptyOp::create(builder, getOutputSizes(), arithmetic);
  Value start = linalg::FillOp::create(builder, createConstant(builder, arithmetic, 0.0), empty).getResult(0);
  auto body = [&](OpBuilder &nested, Location location, Value first, ValueRange sums) {
    ImplicitLocOpBuilder inner(location, nested);
    Value chain = createChain(inner, scaled, first, whole);
    scf::YieldOp::create(inner, addChain(inner, sums[0], chain, isZero(inner, first), Value()));
  };
  Value sum = scf::ForOp::create(builder, zero, end, step, start, body).getResult(0);
  if (getConstantIntValue(rest) == 0)
    return sum;
  OpFoldResult left = getAsOpFoldResult(rest);
  return addChain(builder, sum, createChain(builder, scaled, getAsOpFoldResult(end), left), isZero(builder, end),
                  isZero(builder, rest));
}

SmallVector<Value> ProjectLowering::create() {
  Value scale = createScale(), root = createRoot(scale), products = createProducts(createScaled(scale));
  int64_t rank = op.getZ().getType().getRank();
  auto multiply = [](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    return {arith::MulFOp::create(inner, elements[0], elements[1])};
  };
  SmallVector<Value> results = createElementwise(
      builder,
      {{products, getIdentityMap(builder.getContext(), rank)}, {root, getRowMap(builder.getContext(), rank, 1)}},
      getOutputSizes(), op.getZ().getType(), arithmetic, multiply);
  if (op.getRstd())
    llvm::append_range(
        results, createElementwise(builder, {{root, row}, {scale, row}}, rowSizes, rowType, arithmetic, multiply));
  return results;
}

namespace {
struct LowerProject : OpConversionPattern<ProjectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ProjectOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, ProjectLowering(builder, op, adaptor.getX(), adaptor.getWeight()).create());
    return success();
  }
};
} // namespace

void resid::populateProjectionToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerProject>(patterns.getContext());
}
