// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits arithmetic on floats of one type, scalars or vectors, and on the integers of their bits. Owns no function's
// formula.

#ifndef RESID_CODEGEN_ARITHMETIC_FLOATARITHMETIC_H
#define RESID_CODEGEN_ARITHMETIC_FLOATARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::resid::arithmetic {

/// A value as the unevaluated sum of two floats, the second at most half a unit of the first.
struct FloatPair {
  Value high, low;
};

class FloatArithmetic {
public:
  /// `type` is f32 or f64, or a vector of them.
  FloatArithmetic(OpBuilder &builder, Location loc, Type type, bool hasFMA = true)
      : builder(builder), loc(loc), type(type), element(cast<FloatType>(getElementTypeOrSelf(type))), hasFMA(hasFMA) {}

  OpBuilder &getBuilder() const { return builder; }
  Location getLoc() const { return loc; }
  Type getType() const { return type; }
  bool isDouble() const { return element.isF64(); }

  Value number(double value) { return splat(type, builder.getFloatAttr(element, value)); }
  Value integer(int64_t value) { return splat(integerType(), builder.getIntegerAttr(integerElement(), value)); }

  Value add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
  Value subtract(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
  Value multiply(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
  Value divide(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
  Value fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
  Value negate(Value a) { return arith::NegFOp::create(builder, loc, a); }
  Value add(Value a, double b) { return add(a, number(b)); }
  Value subtract(double a, Value b) { return subtract(number(a), b); }
  Value multiply(Value a, double b) { return multiply(a, number(b)); }
  Value absolute(Value a) { return math::AbsFOp::create(builder, loc, a); }
  Value squareRoot(Value a) { return math::SqrtOp::create(builder, loc, a); }
  Value roundToInteger(Value a) { return math::RoundEvenOp::create(builder, loc, a); }
  Value copySign(Value magnitude, Value sign) { return math::CopySignOp::create(builder, loc, magnitude, sign); }

  Value isBelow(Value a, double b) { return compare(arith::CmpFPredicate::OLT, a, number(b)); }
  Value isAbove(Value a, double b) { return compare(arith::CmpFPredicate::OGT, a, number(b)); }
  Value isEqual(Value a, Value b) { return compare(arith::CmpFPredicate::OEQ, a, b); }
  Value isEqual(Value a, double b) { return isEqual(a, number(b)); }
  Value isNaN(Value a) { return compare(arith::CmpFPredicate::UNO, a, a); }
  Value both(Value a, Value b) { return arith::AndIOp::create(builder, loc, a, b); }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value choose(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  Value choose(Value condition, double yes, Value no) { return choose(condition, number(yes), no); }
  Value choose(Value condition, Value yes, double no) { return choose(condition, yes, number(no)); }
  Value choose(Value condition, double yes, double no) { return choose(condition, number(yes), number(no)); }
  /// a or, where a > limit (a < limit), limit; NaN stays.
  Value atMost(Value a, double limit) { return choose(isAbove(a, limit), limit, a); }
  Value atLeast(Value a, double limit) { return choose(isBelow(a, limit), limit, a); }

  Value bits(Value a) { return arith::BitcastOp::create(builder, loc, integerType(), a); }
  Value fromBits(Value a) { return arith::BitcastOp::create(builder, loc, type, a); }
  Value addIntegers(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value subtractIntegers(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value multiplyIntegers(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
  Value andBits(Value a, int64_t mask) { return arith::AndIOp::create(builder, loc, a, integer(mask)); }
  Value orBits(Value a, int64_t mask) { return arith::OrIOp::create(builder, loc, a, integer(mask)); }
  Value shiftLeft(Value a, int64_t count) { return arith::ShLIOp::create(builder, loc, a, integer(count)); }
  Value shiftRight(Value a, int64_t count) { return arith::ShRUIOp::create(builder, loc, a, integer(count)); }
  Value halve(Value a) { return arith::ShRSIOp::create(builder, loc, a, integer(1)); }
  Value isZero(Value a) { return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, integer(0)); }

  /// The sum of coefficients[i]·x^i.
  Value polynomial(ArrayRef<double> coefficients, Value x);
  /// 2^exponent for an integer within the normal exponents.
  Value powerOfTwo(Value exponent);
  /// a·2^exponent rounded once, where the power itself may lie outside of the range by as much again; a is in [1/2, 4].
  Value scale(Value a, Value exponent);
  /// A non-negative integer below 2^52, as a float (f64 only).
  Value toFloat(Value integer);

  /// a + b (|a| ≥ |b| or a = 0), a + b and a·b without an error.
  FloatPair addOrdered(Value a, Value b);
  FloatPair addExactly(Value a, Value b);
  FloatPair multiplyExactly(Value a, Value b);

private:
  Type integerElement() { return builder.getIntegerType(element.getWidth()); }
  Type integerType() {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped ? Type(shaped.clone(integerElement())) : integerElement();
  }
  Value splat(Type valueType, TypedAttr value) {
    if (auto shaped = dyn_cast<ShapedType>(valueType))
      value = DenseElementsAttr::get(shaped, ArrayRef<Attribute>(value));
    return arith::ConstantOp::create(builder, loc, value);
  }
  FloatPair split(Value a);

  OpBuilder &builder;
  Location loc;
  Type type;
  FloatType element;
  bool hasFMA;
};

} // namespace mlir::resid::arithmetic

#endif // RESID_CODEGEN_ARITHMETIC_FLOATARITHMETIC_H
