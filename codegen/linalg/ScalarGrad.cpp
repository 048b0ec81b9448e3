// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the backward ops of a gate and of a dynamic tanh: elementwise work, sums of rows, and sums down the rows.

#include "codegen/linalg/ColumnSum.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

/// S of each row of a tensor in the arithmetic type.
static Value createRowSums(Code &builder, Value terms) {
  RankedTensorType type = getStatisticsType(cast<RankedTensorType>(terms.getType()), /*normalizedRank=*/1);
  return rows::RowSumsOp::create(builder, TypeRange(type), terms, builder.getI64IntegerAttr(1)).getSums().front();
}

/// The only element of a tensor of rank 1, as one of rank 0.
static Value dropUnit(Code &builder, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  AffineMap first = AffineMap::get(0, 0, builder.getAffineConstantExpr(0));
  return createElementwise(builder, {{tensor, first}}, {}, type.clone(ArrayRef<int64_t>()),
                           cast<FloatType>(type.getElementType()), takeElement);
}

//===----------------------------------------------------------------------===//
// The gradient of a gate
//===----------------------------------------------------------------------===//

namespace {

/// The sum of one tensor over the dimensions along which a gate broadcasts.
class GateSum {
public:
  GateSum(Code &builder, RankedTensorType gate, int64_t rank);

  /// Whether the gate has an element for each column: else rows are summed before.
  bool keepsColumns() const { return !kept.empty() && kept.back() == rank - 1; }
  /// The sum of the terms that `body` makes of the operands, which have all dimensions, or with sums of rows all but
  /// the last. `sizes` are theirs.
  Value create(ArrayRef<Value> operands, SmallVector<OpFoldResult> sizes, FloatType arithmetic, TermBody body);

private:
  Value createOrdered(ArrayRef<ElementwiseOperand> operands, ArrayRef<OpFoldResult> sizes, Type element,
                      FloatType arithmetic, TermBody body);
  Value expand(Value sum);

  Code &builder;
  RankedTensorType gate;
  int64_t rank;
  /// Of the dimensions of the branch, those that the gate has.
  SmallVector<int64_t> kept;
};

} // namespace

GateSum::GateSum(Code &builder, RankedTensorType gate, int64_t rank) : builder(builder), gate(gate), rank(rank) {
  for (auto [dimension, size] : llvm::enumerate(gate.getShape()))
    if (size != 1)
      kept.push_back(rank - gate.getRank() + dimension);
}

/// The terms with the loops in the order of `sizes`, of another element type.
Value GateSum::createOrdered(ArrayRef<ElementwiseOperand> operands, ArrayRef<OpFoldResult> sizes, Type element,
                             FloatType arithmetic, TermBody body) {
  SmallVector<int64_t> shape = llvm::map_to_vector(
      sizes, [](OpFoldResult size) { return getConstantIntValue(size).value_or(ShapedType::kDynamic); });
  return createElementwise(builder, operands, sizes, RankedTensorType::get(shape, element), arithmetic, body);
}

Value GateSum::create(ArrayRef<Value> operands, SmallVector<OpFoldResult> sizes, FloatType arithmetic, TermBody body) {
  // The loops: what is summed, then what is kept, and one of a single turn where nothing is.
  int64_t dimensions = sizes.size();
  SmallVector<int64_t> order;
  for (int64_t dimension = 0; dimension < dimensions; ++dimension)
    if (!llvm::is_contained(kept, dimension))
      order.push_back(dimension);
  bool sums = !order.empty();
  llvm::append_range(order, kept);
  bool isInOrder = llvm::is_sorted(order);
  int64_t columns = std::max<int64_t>(kept.size(), 1), loops = dimensions + (kept.empty() ? 1 : 0);
  SmallVector<AffineExpr> places(dimensions);
  SmallVector<OpFoldResult> loopSizes;
  for (auto [loop, dimension] : llvm::enumerate(order)) {
    places[dimension] = builder.getAffineDimExpr(loop);
    loopSizes.push_back(sizes[dimension]);
  }
  if (kept.empty())
    loopSizes.push_back(builder.getIndexAttr(1));
  SmallVector<ElementwiseOperand> all;
  for (Value operand : operands)
    all.push_back({operand, AffineMap::get(loops, 0, places, builder.getContext())});
  if (!sums)
    return expand(createOrdered(all, loopSizes, gate.getElementType(), arithmetic, body));
  Value sum;
  if (isInOrder) {
    sum = createColumnSum(builder, all, loopSizes, columns, arithmetic, body);
  } else {
    Value ordered = createOrdered(all, loopSizes, arithmetic, arithmetic, body);
    sum = createColumnSum(builder, {{ordered, getIdentityMap(builder.getContext(), loops)}}, loopSizes, columns,
                          arithmetic, takeElement);
  }
  return expand(roundColumnSum(builder, sum, cast<RankedTensorType>(sum.getType()).clone(gate.getElementType())));
}

/// The sum in the shape of the gate, which may have dimensions of 1.
Value GateSum::expand(Value sum) {
  auto type = cast<RankedTensorType>(sum.getType());
  if (gate.getRank() == 0)
    return dropUnit(builder, sum);
  if (type.getRank() < gate.getRank()) {
    SmallVector<ReassociationIndices> groups(type.getRank());
    SmallVector<OpFoldResult> sizes, known = getSizes(builder, sum);
    SmallVector<int64_t> shape;
    size_t group = 0;
    for (auto [dimension, size] : llvm::enumerate(gate.getShape())) {
      bool isKept = size != 1;
      if (isKept && !sizes.empty() && !groups[group].empty() &&
          llvm::any_of(groups[group], [&](int64_t before) { return gate.getDimSize(before) != 1; }))
        ++group;
      groups[group].push_back(dimension);
      sizes.push_back(isKept ? known[group] : builder.getIndexAttr(1));
      shape.push_back(isKept ? type.getDimSize(group) : 1);
    }
    sum = tensor::ExpandShapeOp::create(builder, type.clone(shape), sum, groups, sizes);
  }
  return sum.getType() == gate ? sum : Value(tensor::CastOp::create(builder, gate, sum));
}

namespace {
struct LowerGateGrad : OpConversionPattern<GateGradOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(GateGradOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    RankedTensorType type = op.getF().getType();
    FloatType arithmetic = getArithmeticType(type.getElementType());
    APFloat scale = op.getBranchScale();
    auto body = [&](Code &inner, ValueRange elements) -> Value {
      Value term = inner.multiply(elements[1], elements[0]);
      return scale.isExactlyValue(1.0) ? term : inner.multiply(createConstant(inner, arithmetic, scale), term);
    };
    GateSum sum(builder, op.getDgate().getType(), type.getRank());
    SmallVector<OpFoldResult> sizes = getSizes(builder, adaptor.getF());
    if (sum.keepsColumns()) {
      rewriter.replaceOp(op, sum.create({adaptor.getDy(), adaptor.getF()}, sizes, arithmetic, body));
      return success();
    }
    AffineMap identity = getIdentityMap(getContext(), type.getRank());
    Value terms = createElementwise(builder, {{adaptor.getDy(), identity}, {adaptor.getF(), identity}}, sizes,
                                    type.clone(arithmetic), arithmetic, body);
    sizes.pop_back();
    rewriter.replaceOp(op, sum.create(createRowSums(builder, terms), sizes, arithmetic, takeElement));
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// The gradients of a dynamic tanh
//===----------------------------------------------------------------------===//

namespace {

/// What is made of dy, x and the tanh.
class DyTGradLowering {
public:
  DyTGradLowering(Code &builder, DyTGradOp op, DyTGradOp::Adaptor adaptor);

  Value createDx();
  Value createDalpha(RankedTensorType resultType);
  /// Σ dy·t or Σ dy.
  Value createParameter(bool isGamma, Type resultType);

private:
  /// Where elements stand among those of the operands.
  enum Place { Dy, X, T, Alpha, Gamma, Dsum };
  /// h = (1 - t²)·g.
  Value createSlope(Code &inner, ValueRange elements) const;

  Code &builder;
  RankedTensorType type;
  FloatType arithmetic;
  bool zeroCenteredGamma;
  int64_t columns;
  SmallVector<OpFoldResult> sizes;
  SmallVector<ElementwiseOperand> operands;
};

} // namespace

DyTGradLowering::DyTGradLowering(Code &builder, DyTGradOp op, DyTGradOp::Adaptor adaptor)
    : builder(builder), type(op.getX().getType()), arithmetic(getArithmeticType(type.getElementType())),
      zeroCenteredGamma(op.getZeroCenteredGamma()), columns(op.getGamma() ? op.getGamma().getType().getRank() : 0),
      sizes(getSizes(builder, adaptor.getX())) {
  MLIRContext *context = builder.getContext();
  AffineMap identity = getIdentityMap(context, type.getRank()), number = AffineMap::get(type.getRank(), 0, context);
  auto squash = [](Code &inner, ValueRange elements) {
    return math::TanhOp::create(inner, inner.multiply(elements[1], elements[0]));
  };
  Value t = createElementwise(builder, {{adaptor.getX(), identity}, {adaptor.getAlpha(), number}}, sizes,
                              type.clone(arithmetic), arithmetic, squash);
  operands = {{adaptor.getDy(), identity},
              {adaptor.getX(), identity},
              {t, identity},
              {adaptor.getAlpha(), number},
              {adaptor.getGamma(), getColumnMap(context, type.getRank(), columns)},
              {adaptor.getDsum(), identity}};
}

Value DyTGradLowering::createSlope(Code &inner, ValueRange elements) const {
  Value scaled = elements[Dy];
  if (Value gamma = elements[Gamma]) {
    if (zeroCenteredGamma)
      gamma = inner.add(1.0, gamma);
    scaled = inner.multiply(scaled, gamma);
  }
  return inner.multiply(inner.fma(inner.negate(elements[T]), elements[T], 1.0), scaled);
}

Value DyTGradLowering::createDx() {
  auto body = [&](Code &inner, ValueRange elements) {
    Value slope = createSlope(inner, elements), alpha = elements[Alpha], dsum = elements[Dsum];
    return dsum ? inner.fma(alpha, slope, dsum) : inner.multiply(alpha, slope);
  };
  return createElementwise(builder, operands, sizes, type, arithmetic, body);
}

Value DyTGradLowering::createDalpha(RankedTensorType resultType) {
  // Without alpha and the sum, which the terms are not made of.
  SmallVector<ElementwiseOperand> used(operands);
  used[Alpha].tensor = used[Dsum].tensor = Value();
  auto body = [&](Code &inner, ValueRange elements) {
    return inner.multiply(elements[X], createSlope(inner, elements));
  };
  Value terms = createElementwise(builder, used, sizes, type.clone(arithmetic), arithmetic, body);
  GateSum sum(builder, resultType, type.getRank());
  return sum.create(createRowSums(builder, terms), llvm::to_vector(ArrayRef(sizes).drop_back()), arithmetic,
                    takeElement);
}

Value DyTGradLowering::createParameter(bool isGamma, Type resultType) {
  SmallVector<ElementwiseOperand> used{operands[Dy]};
  if (isGamma)
    used.push_back(operands[T]);
  auto body = [&](Code &inner, ValueRange elements) -> Value {
    return isGamma ? inner.multiply(elements[0], elements[1]) : elements[0];
  };
  Value sum = createColumnSum(builder, used, sizes, columns, arithmetic, body);
  return roundColumnSum(builder, sum, resultType);
}

namespace {
struct LowerDyTGrad : OpConversionPattern<DyTGradOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(DyTGradOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    DyTGradLowering lowering(builder, op, adaptor);
    // What nobody reads would still be a kernel's work.
    auto unless = [](Value result, llvm::function_ref<Value()> create) {
      return result.use_empty() ? Value() : create();
    };
    SmallVector<Value> results{unless(op.getDx(), [&] { return lowering.createDx(); }),
                               unless(op.getDalpha(), [&] { return lowering.createDalpha(op.getDalpha().getType()); })};
    for (Value parameter : op.getParameters()) {
      bool isGamma = parameter == op.getParameters().front();
      results.push_back(unless(parameter, [&] { return lowering.createParameter(isGamma, parameter.getType()); }));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void resid::populateScalarGradToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerGateGrad, LowerDyTGrad>(patterns.getContext());
}
