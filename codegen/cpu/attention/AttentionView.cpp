// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of elements of attention.

#include "codegen/cpu/attention/AttentionView.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

static Type withShapeOf(Value value, Type element) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? Type(vector.clone(element)) : element;
}

Value AttentionView::getRandomRow(Value rowsBefore) {
  if (extentLocal)
    rowsBefore = code.add(code.multiply(code.divide(rowsBefore, extentLocal), extentGlobal),
                          code.remainder(rowsBefore, extentLocal));
  return code.add(firstRandomRow, rowsBefore);
}

Value AttentionView::widen(Value value) {
  if (getElementTypeOrSelf(value.getType()) == getArithmetic())
    return value;
  return arith::ExtFOp::create(code.builder, code.loc, withShapeOf(value, getArithmetic()), value);
}

Value AttentionView::narrow(Value value, unsigned operand) {
  Type element = getElementType(operand);
  if (element == getArithmetic())
    return value;
  if (element.getIntOrFloatBitWidth() > getArithmetic().getWidth())
    return arith::ExtFOp::create(code.builder, code.loc, withShapeOf(value, element), value);
  return arith::TruncFOp::create(code.builder, code.loc, withShapeOf(value, element), value);
}

Value AttentionView::constantFloat(double value) {
  return arith::ConstantOp::create(code.builder, code.loc, code.builder.getFloatAttr(getArithmetic(), value));
}
