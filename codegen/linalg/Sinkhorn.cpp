// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of Sinkhorn's iterations and of their backward: a loop over the matrices, in which the numbers of one are
// scalars that the loop over the iterations carries.

#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

using Numbers = SmallVector<Value>;

namespace {
/// Arithmetic on the numbers of one matrix, row by row.
struct Matrix {
  Code &builder;
  FloatType type;
  int64_t size;
  Value epsilon;

  int64_t at(bool isRows, int64_t line, int64_t k) const { return isRows ? line * size + k : k * size + line; }
  Value number(double value) const { return createConstant(builder, type, value); }

  /// Of each row: the exponentials of what is below its maximum, divided by their sum.
  Numbers createSoftmax(ArrayRef<Value> logits) const;
  Numbers addEpsilon(Numbers numbers) const;
  /// Divides rows or columns by their sums and epsilon; the divisors go to `divisors`.
  Numbers divide(ArrayRef<Value> numbers, bool isRows, Numbers *divisors = nullptr) const;
  /// All iterations but the first begin with the rows.
  Numbers iterate(ArrayRef<Value> numbers) const { return divide(divide(numbers, /*isRows=*/true), /*isRows=*/false); }
  /// The gradient of what was divided. Without divisors, that of the logits of a softmax.
  Numbers differentiate(ArrayRef<Value> gradient, ArrayRef<Value> quotients, ArrayRef<Value> divisors,
                        bool isRows) const;
};
} // namespace

Numbers Matrix::createSoftmax(ArrayRef<Value> logits) const {
  Value smallest = createConstant(builder, type, APFloat::getSmallestNormalized(type.getFloatSemantics()));
  Numbers result(logits);
  for (int64_t i = 0; i < size; ++i) {
    Value largest = logits[at(true, i, 0)], sum;
    for (int64_t j = 1; j < size; ++j)
      largest = arith::MaximumFOp::create(builder, largest, logits[at(true, i, j)]);
    for (int64_t j = 0; j < size; ++j) {
      Value &element = result[at(true, i, j)];
      Value power = math::ExpOp::create(builder, builder.subtract(element, largest));
      Value isSmall = builder.isBelow(power, smallest);
      element = builder.select(isSmall, number(0.0), power);
      sum = sum ? builder.add(sum, element) : element;
    }
    for (int64_t j = 0; j < size; ++j)
      result[at(true, i, j)] = builder.divide(result[at(true, i, j)], sum);
  }
  return result;
}

Numbers Matrix::addEpsilon(Numbers numbers) const {
  for (Value &element : numbers)
    element = builder.add(element, epsilon);
  return numbers;
}

Numbers Matrix::divide(ArrayRef<Value> numbers, bool isRows, Numbers *divisors) const {
  Numbers result(numbers);
  for (int64_t line = 0; line < size; ++line) {
    Value sum = numbers[at(isRows, line, 0)];
    for (int64_t k = 1; k < size; ++k)
      sum = builder.add(sum, numbers[at(isRows, line, k)]);
    sum = builder.add(sum, epsilon);
    if (divisors)
      divisors->push_back(sum);
    for (int64_t k = 0; k < size; ++k)
      result[at(isRows, line, k)] = builder.divide(numbers[at(isRows, line, k)], sum);
  }
  return result;
}

Numbers Matrix::differentiate(ArrayRef<Value> gradient, ArrayRef<Value> quotients, ArrayRef<Value> divisors,
                              bool isRows) const {
  Numbers result(gradient);
  for (int64_t line = 0; line < size; ++line) {
    int64_t start = at(isRows, line, 0);
    Value sum = builder.multiply(gradient[start], quotients[start]);
    for (int64_t k = 1; k < size; ++k) {
      int64_t place = at(isRows, line, k);
      sum = builder.fma(gradient[place], quotients[place], sum);
    }
    for (int64_t k = 0; k < size; ++k) {
      int64_t place = at(isRows, line, k);
      Value rest = builder.subtract(gradient[place], sum);
      result[place] =
          divisors.empty() ? builder.multiply(quotients[place], rest) : builder.divide(rest, divisors[line]);
    }
  }
  return result;
}

/// Reads, or writes, all numbers of a matrix: those of a tensor at some leading indices.
static Numbers readNumbers(Code &builder, Value tensor, ValueRange leading, int64_t count) {
  Numbers numbers;
  for (int64_t place = 0; place < count; ++place) {
    SmallVector<Value> indices(leading);
    indices.push_back(arith::ConstantIndexOp::create(builder, place));
    numbers.push_back(tensor::ExtractOp::create(builder, tensor, indices));
  }
  return numbers;
}

static Value writeNumbers(Code &builder, ArrayRef<Value> numbers, Value tensor, ValueRange leading) {
  for (auto [place, number] : llvm::enumerate(numbers)) {
    SmallVector<Value> indices(leading);
    indices.push_back(arith::ConstantIndexOp::create(builder, place));
    tensor = tensor::InsertOp::create(builder, number, tensor, indices);
  }
  return tensor;
}

static SmallVector<Value> createLoop(Code &builder, OpFoldResult count, ValueRange carried, Code::CarryingBody step) {
  Value first = arith::ConstantIndexOp::create(builder, 0), one = arith::ConstantIndexOp::create(builder, 1);
  Value end = getValueOrCreateConstantIndexOp(builder, builder.getLoc(), count);
  return builder.loop(first, end, one, carried, step);
}

namespace {
/// What both ops say, and how the numbers of one matrix become those of the result.
class SinkhornLowering {
public:
  SinkhornLowering(Code &builder, RankedTensorType type, int64_t iterations, const APFloat &epsilon)
      : builder(builder), type(type), arithmetic(cast<FloatType>(type.getElementType())), size(type.getShape().back()),
        iterations(iterations), epsilon(createConstant(builder, arithmetic, epsilon)) {}

  Value createForward(Value logits);
  Value createBackward(Value logits, Value gradient);

private:
  Matrix getMatrix() const { return {builder, arithmetic, size, epsilon}; }
  /// All matrices as rows of numbers; and back, with the sizes of the logits.
  Value flatten(Value tensor);
  Value restore(Value flat, Value logits);
  Value createRows(OpFoldResult count, int64_t width) {
    return tensor::EmptyOp::create(builder, {count, OpFoldResult(builder.getIndexAttr(width))}, arithmetic);
  }
  /// The leading dimensions as one, and the two of a matrix as one.
  SmallVector<ReassociationIndices> getGroups() const {
    int64_t rank = type.getRank();
    return {llvm::to_vector(llvm::seq<int64_t>(0, rank - 2)), {rank - 2, rank - 1}};
  }

  Code &builder;
  RankedTensorType type;
  FloatType arithmetic;
  int64_t size, iterations;
  Value epsilon;
};
} // namespace

Value SinkhornLowering::flatten(Value tensor) {
  SmallVector<ReassociationIndices> groups = getGroups();
  if (type.getRank() > 2)
    return tensor::CollapseShapeOp::create(builder, tensor, groups);
  Value flat = tensor::CollapseShapeOp::create(builder, tensor, ArrayRef(groups).drop_front());
  return tensor::ExpandShapeOp::create(builder, RankedTensorType::get({1, size * size}, arithmetic), flat,
                                       SmallVector<ReassociationIndices>{{0, 1}});
}

Value SinkhornLowering::restore(Value flat, Value logits) {
  SmallVector<ReassociationIndices> groups = getGroups();
  if (type.getRank() > 2)
    return tensor::ExpandShapeOp::create(builder, type, flat, groups, getSizes(builder, logits));
  Value row = tensor::CollapseShapeOp::create(builder, flat, SmallVector<ReassociationIndices>{{0, 1}});
  return tensor::ExpandShapeOp::create(builder, type, row, ArrayRef(groups).drop_front());
}

Value SinkhornLowering::createForward(Value logits) {
  Value flat = flatten(logits);
  OpFoldResult count = getSizes(builder, flat).front();
  auto createMatrix = [&](Value row, ValueRange results) -> SmallVector<Value> {
    Matrix matrix = getMatrix();
    Numbers softmax = matrix.createSoftmax(readNumbers(builder, flat, row, size * size));
    Numbers numbers = matrix.divide(matrix.addEpsilon(softmax), /*isRows=*/false);
    auto iterate = [&](Value, ValueRange values) { return matrix.iterate(llvm::to_vector(values)); };
    if (iterations > 1)
      numbers = createLoop(builder, builder.getIndexAttr(iterations - 1), numbers, iterate);
    return {writeNumbers(builder, numbers, results.front(), row)};
  };
  return restore(createLoop(builder, count, createRows(count, size * size), createMatrix).front(), logits);
}

Value SinkhornLowering::createBackward(Value logits, Value gradient) {
  Value flat = flatten(logits), given = flatten(gradient);
  OpFoldResult count = getSizes(builder, flat).front();
  // Of each iteration after the first what both divisions gave, and what they divided by.
  int64_t elements = size * size, division = elements + size;
  auto differentiateMatrix = [&](Value row, ValueRange results) -> SmallVector<Value> {
    // Each matrix has its own: nothing says that one comes after the other.
    Value history = createRows(builder.getIndexAttr(std::max<int64_t>(iterations - 1, 1)), 2 * division);
    Matrix matrix = getMatrix();
    Numbers softmax = matrix.createSoftmax(readNumbers(builder, flat, row, elements)), firstSums;
    Numbers first = matrix.divide(matrix.addEpsilon(softmax), /*isRows=*/false, &firstSums);
    auto iterate = [&](Value number, ValueRange values) -> SmallVector<Value> {
      Numbers kept, sums, numbers = llvm::to_vector(values.drop_back());
      for (bool isRows : {true, false}) {
        sums.clear();
        numbers = matrix.divide(numbers, isRows, &sums);
        llvm::append_range(kept, numbers);
        llvm::append_range(kept, sums);
      }
      numbers.push_back(writeNumbers(builder, kept, values.back(), number));
      return numbers;
    };
    Numbers carried(first);
    carried.push_back(history);
    carried = createLoop(builder, builder.getIndexAttr(iterations - 1), carried, iterate);
    Value kept = carried.back();
    auto goBack = [&](Value number, ValueRange values) -> SmallVector<Value> {
      Numbers numbers = readNumbers(builder, kept, builder.subtract(iterations - 2, number), 2 * division);
      Numbers result = llvm::to_vector(values);
      for (bool isRows : {false, true}) {
        ArrayRef<Value> step = ArrayRef<Value>(numbers).slice(isRows ? 0 : division, division);
        result = matrix.differentiate(result, step.take_front(elements), step.take_back(size), isRows);
      }
      return result;
    };
    Numbers gradients = readNumbers(builder, given, row, elements);
    gradients = createLoop(builder, builder.getIndexAttr(iterations - 1), gradients, goBack);
    gradients = matrix.differentiate(gradients, first, firstSums, /*isRows=*/false);
    gradients = matrix.differentiate(gradients, softmax, {}, /*isRows=*/true);
    return {writeNumbers(builder, gradients, results.front(), row)};
  };
  return restore(createLoop(builder, count, createRows(count, elements), differentiateMatrix).front(), logits);
}

namespace {
struct LowerSinkhorn : OpConversionPattern<SinkhornOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SinkhornOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    SinkhornLowering lowering(builder, op.getType(), op.getIterations(), op.getEpsilon());
    rewriter.replaceOp(op, lowering.createForward(adaptor.getLogits()));
    return success();
  }
};

struct LowerSinkhornGrad : OpConversionPattern<SinkhornGradOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SinkhornGradOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    SinkhornLowering lowering(builder, op.getType(), op.getIterations(), op.getEpsilon());
    rewriter.replaceOp(op, lowering.createBackward(adaptor.getLogits(), adaptor.getDmix()));
    return success();
  }
};
} // namespace

void resid::populateSinkhornToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerSinkhorn, LowerSinkhornGrad>(patterns.getContext());
}
