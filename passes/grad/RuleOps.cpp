// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops that rules are made with; see Rules.h.

#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

/// The value, a tensor or a number, as floats of `type`.
static Value convert(ImplicitLocOpBuilder &builder, Value value, Type type) {
  unsigned from = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  return from < to ? Value(arith::ExtFOp::create(builder, type, value)) : arith::TruncFOp::create(builder, type, value);
}

Value resid::createCast(ImplicitLocOpBuilder &builder, Value tensor, Type elementType) {
  return convert(builder, tensor, cast<RankedTensorType>(tensor.getType()).clone(elementType));
}

/// A new tensor with the last `count` dimensions of another.
static Value createEmpty(ImplicitLocOpBuilder &builder, Value tensor, int64_t count, Type elementType) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, builder.getLoc(), tensor);
  return tensor::EmptyOp::create(builder, ArrayRef(sizes).take_back(count), elementType);
}

Value resid::createScaled(ImplicitLocOpBuilder &builder, Value tensor, const APFloat &factor, Type elementType) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (factor.isExactlyValue(1.0))
    return createCast(builder, tensor, elementType);
  FloatType arithmetic = getArithmeticType(elementType);
  Value empty = createEmpty(builder, tensor, type.getRank(), elementType);
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &nested, Location location, ValueRange elements) {
    ImplicitLocOpBuilder inner(location, nested);
    Value constant = arith::ConstantFloatOp::create(inner, arithmetic, roundToArithmetic(factor, arithmetic));
    Value product = arith::MulFOp::create(inner, constant, convert(inner, elements.front(), arithmetic));
    linalg::YieldOp::create(inner, convert(inner, product, elementType));
  };
  return linalg::GenericOp::create(builder, empty.getType(), tensor, empty, maps, loops, body).getResult(0);
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
      Value term = convert(inner, elements[0], arithmetic);
      linalg::YieldOp::create(inner, Value(arith::AddFOp::create(inner, elements[1], term)));
    };
    sum = linalg::GenericOp::create(builder, old.getType(), tensor, old, ArrayRef{all, last}, loops, body).getResult(0);
  }
  sum = createCast(builder, sum, type.getElementType());
  return sum.getType() == type ? sum : Value(tensor::CastOp::create(builder, type, sum));
}
