// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/connection/RowArithmetic.h"

#include "dialect/ResidDialect.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;

Value resid::splitLast(OpBuilder &builder, Location loc, Value value, int64_t rows, int64_t columns) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape().drop_back());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  sizes.pop_back();
  for (int64_t size : {rows, columns}) {
    shape.push_back(size);
    sizes.push_back(builder.getIndexAttr(size));
  }
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), value, groupLastTwo(type.getRank() + 1), sizes);
}

Value resid::mapElements(OpBuilder &builder, Location loc, Value x, ValueRange more, ArrayRef<AffineMap> maps,
                         function_ref<Value(OpBuilder &, ValueRange)> body) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<Value> inputs = {x};
  llvm::append_range(inputs, more);
  SmallVector<AffineMap> all = {builder.getMultiDimIdentityMap(type.getRank())};
  llvm::append_range(all, maps);
  all.push_back(all.front());
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, x), type.getElementType());
  return linalg::GenericOp::create(builder, loc, type, inputs, empty, all,
                                   SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
                                   [&](OpBuilder &inner, Location, ValueRange values) {
                                     linalg::YieldOp::create(inner, loc, body(inner, values));
                                   })
      .getResult(0);
}

static Value createNumber(OpBuilder &builder, Location loc, FloatType type, double number) {
  return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, number));
}

Value resid::scaleElements(OpBuilder &builder, Location loc, Value x, double factor) {
  FloatType type = cast<FloatType>(getElementTypeOrSelf(x)), arithmetic = getArithmeticType(type);
  return mapElements(builder, loc, x, {}, {}, [&](OpBuilder &inner, ValueRange values) -> Value {
    Value value = values[0];
    if (type != arithmetic)
      value = arith::ExtFOp::create(inner, loc, arithmetic, value);
    value = arith::MulFOp::create(inner, loc, value, createNumber(inner, loc, arithmetic, factor));
    return type == arithmetic ? value : Value(arith::TruncFOp::create(inner, loc, type, value));
  });
}

Value resid::squash(OpBuilder &builder, Location loc, Value x, double factor, double offset) {
  Value sigmoid = ActivationOp::create(builder, loc, ActivationKind::Sigmoid, x, /*up=*/Value());
  if (factor == 1.0 && offset == 0.0)
    return sigmoid;
  auto type = cast<FloatType>(getElementTypeOrSelf(x));
  return mapElements(builder, loc, sigmoid, {}, {}, [&](OpBuilder &inner, ValueRange values) {
    Value value = values[0];
    if (factor != 1.0)
      value = arith::MulFOp::create(inner, loc, createNumber(inner, loc, type, factor), value);
    if (offset != 0.0)
      value = arith::AddFOp::create(inner, loc, value, createNumber(inner, loc, type, offset));
    return value;
  });
}
