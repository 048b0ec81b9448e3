// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/grad/BodyBuilder.h"
#include "passes/grad/Rules.h"
#include "passes/grad/ScalarRules.h"

using namespace mlir;
using namespace mlir::resid;

Value resid::createCast(ImplicitLocOpBuilder &builder, Value tensor, Type elementType) {
  return convertElements(builder, tensor, cast<RankedTensorType>(tensor.getType()).clone(elementType));
}

/// A new tensor with the last `count` dimensions of another.
static Value createEmpty(ImplicitLocOpBuilder &builder, Value tensor, int64_t count, Type elementType) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, builder.getLoc(), tensor);
  return tensor::EmptyOp::create(builder, ArrayRef(sizes).take_back(count), elementType);
}

/// The map by which a gate broadcasts to a tensor of that rank: a static 1 does.
static AffineMap getGateMap(ImplicitLocOpBuilder &builder, RankedTensorType gate, int64_t rank) {
  SmallVector<AffineExpr> places;
  for (auto [dimension, size] : llvm::enumerate(gate.getShape()))
    places.push_back(size == 1 ? builder.getAffineConstantExpr(0)
                               : builder.getAffineDimExpr(rank - gate.getRank() + dimension));
  return AffineMap::get(rank, 0, places, builder.getContext());
}

Value resid::createScaled(ImplicitLocOpBuilder &builder, Value tensor, Value gate, const APFloat &factor,
                          Type elementType) {
  auto type = cast<RankedTensorType>(tensor.getType());
  bool hasFactor = !factor.isExactlyValue(1.0);
  if (!gate && !hasFactor)
    return createCast(builder, tensor, elementType);
  FloatType arithmetic = getArithmeticType(elementType);
  Value empty = createEmpty(builder, tensor, type.getRank(), elementType);
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<Value> inputs{tensor};
  SmallVector<AffineMap> maps{identity};
  if (gate) {
    inputs.push_back(gate);
    maps.push_back(getGateMap(builder, cast<RankedTensorType>(gate.getType()), type.getRank()));
  }
  maps.push_back(identity);
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &nested, Location location, ValueRange elements) {
    ImplicitLocOpBuilder inner(location, nested);
    Value product = convertElements(inner, elements.front(), arithmetic);
    if (gate)
      product = arith::MulFOp::create(inner, convertElements(inner, elements[1], arithmetic), product);
    if (hasFactor) {
      Value constant = arith::ConstantFloatOp::create(inner, arithmetic, roundToArithmetic(factor, arithmetic));
      product = arith::MulFOp::create(inner, constant, product);
    }
    linalg::YieldOp::create(inner, convertElements(inner, product, elementType));
  };
  return linalg::GenericOp::create(builder, empty.getType(), inputs, empty, maps, loops, body).getResult(0);
}

Value resid::createColumnSum(ImplicitLocOpBuilder &builder, Value tensor, RankedTensorType type) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank(), columns = type.getRank();
  FloatType arithmetic = getArithmeticType(getElementTypeOrSelf(tensor.getType()));
  Value sum = tensor;
  if (columns < rank) {
    Value zero = arith::ConstantFloatOp::create(builder, arithmetic, APFloat::getZero(arithmetic.getFloatSemantics()));
    Value empty = createEmpty(builder, tensor, columns, arithmetic);
    Value old = linalg::FillOp::create(builder, zero, empty).getResult(0);
    AffineMap all = builder.getMultiDimIdentityMap(rank);
    AffineMap last = AffineMap::get(rank, 0, all.getResults().take_back(columns), builder.getContext());
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::reduction);
    std::fill_n(loops.rbegin(), columns, utils::IteratorType::parallel);
    auto body = [&](OpBuilder &nested, Location location, ValueRange elements) {
      ImplicitLocOpBuilder inner(location, nested);
      Value term = convertElements(inner, elements[0], arithmetic);
      linalg::YieldOp::create(inner, Value(arith::AddFOp::create(inner, elements[1], term)));
    };
    sum = linalg::GenericOp::create(builder, old.getType(), tensor, old, ArrayRef{all, last}, loops, body).getResult(0);
  }
  sum = createCast(builder, sum, type.getElementType());
  return sum.getType() == type ? sum : Value(tensor::CastOp::create(builder, type, sum));
}

Value resid::createZeros(ImplicitLocOpBuilder &builder, ArrayRef<OpFoldResult> sizes, Type elementType) {
  Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(elementType));
  Value empty = tensor::EmptyOp::create(builder, sizes, elementType);
  return linalg::FillOp::create(builder, zero, empty).getResult(0);
}

Value resid::createZeros(Gradients &gradients, Value like) {
  ImplicitLocOpBuilder &builder = gradients.getBuilder();
  Value zeros = createZeros(builder, createSizes(gradients, like), getElementTypeOrSelf(like.getType()));
  return zeros.getType() == like.getType() ? zeros : tensor::CastOp::create(builder, like.getType(), zeros).getResult();
}

/// The sum over the loops that `dimensions` leaves out, in the order of the op's loops; the rest in the order of
/// `dimensions`.
static Value createSum(ImplicitLocOpBuilder &builder, Value tensor, ArrayRef<int64_t> dimensions, Type elementType) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, builder.getLoc(), tensor), kept;
  SmallVector<utils::IteratorType> loops(sizes.size(), utils::IteratorType::reduction);
  SmallVector<AffineExpr> expressions;
  for (int64_t dimension : dimensions) {
    kept.push_back(sizes[dimension]);
    loops[dimension] = utils::IteratorType::parallel;
    expressions.push_back(builder.getAffineDimExpr(dimension));
  }
  Value zeros = createZeros(builder, kept, elementType);
  BodyBuilder body(builder);
  Value element = body.read(tensor, builder.getMultiDimIdentityMap(sizes.size()));
  Value sum = body.addResult(zeros, AffineMap::get(sizes.size(), 0, expressions, builder.getContext()));
  Value term = convertElements(body.getBuilder(), element, elementType);
  return body.finish(loops, Value(arith::AddFOp::create(body.getBuilder(), sum, term))).getResult(0);
}

/// Leading loops are summed first. Of a tensor that is summed as a whole the last dimension stays for the sum after:
/// a chain of all elements would be inexact.
static Value sumMissing(ImplicitLocOpBuilder &builder, Value tensor, SmallVector<int64_t> dimensions, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank(), leading = 0;
  while (leading + (dimensions.empty() ? 1 : 0) < rank && !llvm::is_contained(dimensions, leading))
    ++leading;
  FloatType arithmetic = getArithmeticType(element);
  bool isDone = llvm::equal(dimensions, llvm::seq(leading, rank));
  if (leading > 0 || isDone)
    tensor = createColumnSum(builder, tensor,
                             RankedTensorType::get(type.getShape().drop_front(leading), isDone ? element : arithmetic));
  if (isDone)
    return tensor;
  for (int64_t &dimension : dimensions)
    dimension -= leading;
  return createCast(builder, createSum(builder, tensor, dimensions, arithmetic), element);
}

Value resid::createBroadcastSum(ImplicitLocOpBuilder &builder, Value tensor, AffineMap map, RankedTensorType type) {
  SmallVector<int64_t> dimensions;
  SmallVector<ReassociationIndices> groups;
  // Dimensions of size 1 that are no loop join the one before, or the first.
  for (auto [place, expression] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expression);
    if (loop)
      dimensions.push_back(loop.getPosition());
    if (groups.empty() || (loop && dimensions.size() > 1))
      groups.emplace_back();
    groups.back().push_back(place);
  }
  Value sum = sumMissing(builder, tensor, dimensions, type.getElementType());
  if (dimensions.size() == map.getNumResults())
    return sum;
  if (dimensions.empty())
    groups.clear();
  SmallVector<OpFoldResult> sizes;
  SmallVector<OpFoldResult> found = tensor::getMixedSizes(builder, builder.getLoc(), sum);
  SmallVector<int64_t> shape;
  unsigned next = 0;
  for (AffineExpr expression : map.getResults())
    sizes.push_back(isa<AffineDimExpr>(expression) ? found[next++] : OpFoldResult(builder.getIndexAttr(1)));
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return tensor::ExpandShapeOp::create(builder, type.clone(shape), sum, groups, sizes);
}

LogicalResult resid::verifyCaptures(Operation *op, Gradients &gradients) {
  Value needed;
  for (Region &region : op->getRegions())
    visitUsedValuesDefinedAbove(region, [&](OpOperand *operand) {
      if (gradients.isNeeded(operand->get()))
        needed = operand->get();
    });
  if (!needed)
    return success();
  return op->emitOpError("has no gradient of what its body reads from outside: expected an operand but got a value of ")
         << needed.getType();
}
