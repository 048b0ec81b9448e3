// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of products that adjoints of contractions are; see Rules.h. The loops keep the order of the forward, and
// nothing is transposed: the maps say how each tensor is read.

#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/grad/Rules.h"
#include "passes/grad/ScalarRules.h"

using namespace mlir;
using namespace mlir::resid;

/// The size of a loop, of which a factor may know more than another. Null where neither has it.
static OpFoldResult getLoopSize(ImplicitLocOpBuilder &builder, ArrayRef<Factor> factors, unsigned loop) {
  OpFoldResult size;
  for (const Factor &factor : factors) {
    auto place = factor.map.getResultPosition(builder.getAffineDimExpr(loop));
    if (place && (!size || !cast<RankedTensorType>(factor.tensor.getType()).isDynamicDim(*place)))
      size = tensor::getMixedSize(builder, builder.getLoc(), factor.tensor, *place);
  }
  return size;
}

/// What the sum is written into.
static Value createEmpty(ImplicitLocOpBuilder &builder, ArrayRef<Factor> factors, RankedTensorType type, AffineMap map,
                         function_ref<Value()> getLike) {
  SmallVector<Value> sizes;
  for (auto [place, loop] : llvm::enumerate(map.getResults())) {
    if (!type.isDynamicDim(place))
      continue;
    OpFoldResult size = getLoopSize(builder, factors, cast<AffineDimExpr>(loop).getPosition());
    if (!size)
      size = tensor::getMixedSize(builder, builder.getLoc(), getLike(), place);
    sizes.push_back(getValueOrCreateConstantIndexOp(builder, builder.getLoc(), size));
  }
  return tensor::EmptyOp::create(builder, type, sizes);
}

Value resid::createProductSum(ImplicitLocOpBuilder &builder, Factor a, Factor b, RankedTensorType type, AffineMap map,
                              function_ref<Value()> getLike) {
  FloatType arithmetic = builder.getF32Type();
  for (Type operand : {a.tensor.getType(), b.tensor.getType(), Type(type)})
    if (getElementTypeOrSelf(operand).isF64())
      arithmetic = builder.getF64Type();
  auto wide = cast<RankedTensorType>(type.clone(arithmetic));
  Value start = createEmpty(builder, {a, b}, wide, map, getLike);
  SmallVector<utils::IteratorType> loops;
  for (unsigned loop = 0; loop != map.getNumDims(); ++loop)
    loops.push_back(map.isFunctionOfDim(loop) ? utils::IteratorType::parallel : utils::IteratorType::reduction);
  bool isSum = map.getNumResults() != map.getNumDims();
  if (isSum) {
    Value zero = arith::ConstantFloatOp::create(builder, arithmetic, APFloat::getZero(arithmetic.getFloatSemantics()));
    start = linalg::FillOp::create(builder, zero, start).getResult(0);
  }
  auto body = [&](OpBuilder &nested, Location location, ValueRange elements) {
    ImplicitLocOpBuilder inner(location, nested);
    Value value = arith::MulFOp::create(inner, convertElements(inner, elements[0], arithmetic),
                                        convertElements(inner, elements[1], arithmetic));
    if (isSum)
      value = arith::AddFOp::create(inner, elements[2], value);
    linalg::YieldOp::create(inner, value);
  };
  Value sum = linalg::GenericOp::create(builder, TypeRange(wide), ValueRange{a.tensor, b.tensor}, ValueRange(start),
                                        ArrayRef{a.map, b.map, map}, loops, body)
                  .getResult(0);
  return createCast(builder, sum, type.getElementType());
}
