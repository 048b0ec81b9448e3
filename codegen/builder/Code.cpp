// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/builder/Code.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::resid;

Value Code::constant(Type type, Operand number) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr value =
      isa<FloatType>(element) ? TypedAttr(getFloatAttr(element, number.real)) : getIntegerAttr(element, number.whole);
  if (auto shaped = dyn_cast<ShapedType>(type))
    value = DenseElementsAttr::get(shaped, ArrayRef<Attribute>(value));
  return create<arith::ConstantOp>(value);
}

std::pair<Value, Value> Code::match(Operand a, Operand b) {
  if (!a.value)
    a.value = constant(b.value.getType(), a);
  return {a.value, b.value ? b.value : constant(a.value.getType(), b)};
}

Value Code::fma(Operand a, Operand b, Operand c) {
  auto [x, y] = match(a, b);
  return create<math::FmaOp>(x, y, match(x, c).second);
}

Type Code::withShape(Value like, Type element) {
  auto shaped = dyn_cast<ShapedType>(like.getType());
  return shaped ? Type(shaped.clone(element)) : element;
}

Value Code::castInteger(Value a, Type element) {
  Type type = withShape(a, element);
  if (getWidth(a) < element.getIntOrFloatBitWidth())
    return create<arith::ExtUIOp>(type, a);
  return create<arith::TruncIOp>(type, a);
}

Value Code::castFloat(Value a, Type element) {
  if (getElementTypeOrSelf(a) == element)
    return a;
  Type type = withShape(a, element);
  if (getWidth(a) < element.getIntOrFloatBitWidth())
    return create<arith::ExtFOp>(type, a);
  return create<arith::TruncFOp>(type, a);
}

Value Code::compare(arith::CmpFPredicate predicate, Operand a, Operand b) {
  auto [x, y] = match(a, b);
  return create<arith::CmpFOp>(predicate, x, y);
}

Value Code::compare(arith::CmpIPredicate predicate, Operand a, Operand b) {
  auto [x, y] = match(a, b);
  return createOrFold<arith::CmpIOp>(predicate, x, y);
}

Value Code::isEqual(Operand a, Operand b) {
  bool areFloats = isFloat(a.value ? a.value : b.value);
  return areFloats ? compare(arith::CmpFPredicate::OEQ, a, b) : compare(arith::CmpIPredicate::eq, a, b);
}

Value Code::select(Value condition, Operand a, Operand b) {
  auto [x, y] = match(a, b);
  return isFloat(x) ? Value(create<arith::SelectOp>(condition, x, y)) : createOrFold<arith::SelectOp>(condition, x, y);
}

Value Code::spread(Value a, Type type) { return a.getType() == type ? a : Value(create<vector::BroadcastOp>(type, a)); }
