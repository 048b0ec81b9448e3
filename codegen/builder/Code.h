// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The short words in which code is emitted: arithmetic on scalars and vectors, loops, memory. Owns no formula.

#ifndef RESID_CODEGEN_BUILDER_CODE_H
#define RESID_CODEGEN_BUILDER_CODE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::resid {

/// What an operation takes: a value, or a number, which then has the type of the value beside it.
struct Operand {
  Operand(Value value) : value(value) { assert(value && "expected a value or a number"); }
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Operand(T number) : real(number), whole(std::is_integral_v<T> ? int64_t(number) : 0) {}

  Value value;
  double real = 0;
  int64_t whole = 0;
};

/// The mark of Code::divideForInteger.
inline constexpr StringLiteral kForIntegerAttribute = "resid.for_integer";

/// A builder at a place of the source. Where a word fits floats and integers, its operands say what is meant; integers
/// that are known are folded.
class Code : public ImplicitLocOpBuilder {
public:
  using CarryingBody = function_ref<SmallVector<Value>(Value, ValueRange)>;

  Code(const OpBuilder &builder, Location loc, bool hasFMA = true)
      : ImplicitLocOpBuilder(loc, builder), hasFMA(hasFMA) {}

  /// Whether the target has a multiply-add that rounds once.
  const bool hasFMA;

  /// An i64.
  Value constant(int64_t value) { return constant(getI64Type(), value); }
  Value truth(bool value) { return constant(getI1Type(), value); }
  /// A number of this type, in each lane of a vector.
  Value constant(Type type, Operand number);

  Value add(Operand a, Operand b) { return emit<arith::AddFOp, arith::AddIOp>(a, b); }
  Value subtract(Operand a, Operand b) { return emit<arith::SubFOp, arith::SubIOp>(a, b); }
  Value multiply(Operand a, Operand b) { return emit<arith::MulFOp, arith::MulIOp>(a, b); }
  /// Integers are not negative, and `b` is not 0.
  Value divide(Operand a, Operand b) { return emit<arith::DivFOp, arith::DivUIOp>(a, b); }
  /// The quotient of floats for one use: an integer that is the nearest one (ties to even), or 127 or -127 where that
  /// is farther from 0. It is below 2^31, or is not looked at. Where many have one divisor, passes may replace the
  /// division.
  Value divideForInteger(Value a, Value b);
  Value remainder(Operand a, Operand b) { return emit<arith::RemUIOp>(a, b); }
  Value ceilDivide(Operand a, Value b) { return divide(add(a, subtract(b, 1)), b); }
  /// The indices of element `number` of an array of these sizes, of which the last is the fastest. The first is not
  /// looked at.
  SmallVector<Value> delinearize(Value number, ArrayRef<Value> sizes);
  /// Of signed integers.
  Value min(Operand a, Operand b) { return emit<arith::MinSIOp>(a, b); }
  Value max(Operand a, Operand b) { return emit<arith::MaxSIOp>(a, b); }
  Value copySign(Operand magnitude, Operand sign) { return emit<math::CopySignOp>(magnitude, sign); }
  /// In one rounding; of integers, a product and a sum.
  Value fma(Operand a, Operand b, Operand c);
  Value negate(Value a) { return create<arith::NegFOp>(a); }
  Value absolute(Value a) { return create<math::AbsFOp>(a); }
  Value squareRoot(Value a) { return create<math::SqrtOp>(a); }
  Value roundToInteger(Value a) { return create<math::RoundEvenOp>(a); }

  /// Of conditions, or of each bit of integers.
  Value both(Operand a, Operand b) { return emit<arith::AndIOp>(a, b); }
  Value either(Operand a, Operand b) { return emit<arith::OrIOp>(a, b); }
  Value exclusiveOr(Operand a, Operand b) { return emit<arith::XOrIOp>(a, b); }
  Value shiftLeft(Operand a, Operand count) { return emit<arith::ShLIOp>(a, count); }
  Value shiftRight(Operand a, Operand count) { return emit<arith::ShRUIOp>(a, count); }
  Value shiftRightSigned(Operand a, Operand count) { return emit<arith::ShRSIOp>(a, count); }
  /// An f32 or f64 as the integer of its bits, and back.
  Value bits(Value a) { return castBits(a, getIntegerType(getWidth(a))); }
  Value fromBits(Value a) { return castBits(a, isLong(a) ? Type(getF64Type()) : getF32Type()); }
  Value castBits(Value a, Type element) { return create<arith::BitcastOp>(withShape(a, element), a); }
  /// Integers as those of more bits, which are 0, or fewer.
  Value castInteger(Value a, Type element);
  /// Floats as those of a wider or narrower type; as they are where they have it.
  Value castFloat(Value a, Type element);
  /// With its sign.
  Value extendSign(Value a, Type element) { return create<arith::ExtSIOp>(withShape(a, element), a); }
  /// A signed integer as a float.
  Value toFloat(Value a, Type element) { return create<arith::SIToFPOp>(withShape(a, element), a); }
  /// A float as another one, or an integer as a wider one, with its sign.
  Value castNumber(Value a, Type element);

  Value compare(arith::CmpFPredicate predicate, Operand a, Operand b);
  Value compare(arith::CmpIPredicate predicate, Operand a, Operand b);
  Value isBelow(Operand a, Operand b) { return compare(arith::CmpFPredicate::OLT, a, b); }
  Value isAbove(Operand a, Operand b) { return compare(arith::CmpFPredicate::OGT, a, b); }
  Value isNaN(Value a) { return compare(arith::CmpFPredicate::UNO, a, a); }
  Value isEqual(Operand a, Operand b);
  /// Of signed integers.
  Value isAtMost(Operand a, Operand b) { return compare(arith::CmpIPredicate::sle, a, b); }
  Value select(Value condition, Operand a, Operand b);
  /// a or, where a > limit (a < limit), limit; NaN stays.
  Value atMost(Value a, Operand limit) { return select(isAbove(a, limit), limit, a); }
  Value atLeast(Value a, Operand limit) { return select(isBelow(a, limit), limit, a); }

  /// A scalar as this type: the same, or in all lanes of a vector. And in so many lanes.
  Value spread(Value a, Type type);
  Value spread(Value a, int64_t lanes) { return spread(a, VectorType::get(lanes, a.getType())); }

  /// for (i = low; i < high; i += step), of i64. The body stands in the code `copies` times; 0: as LLVM decides.
  scf::ForOp loop(Operand low, Operand high, Operand step, function_ref<void(Value)> body, int64_t copies = 0);
  /// The same with values carried along: `body` gives the next ones, and the result is the last ones.
  SmallVector<Value> loop(Operand low, Operand high, Operand step, ValueRange first, CarryingBody body,
                          int64_t copies = 0);
  /// A loop that stays as it is, also where LLVM knows how often it runs.
  void rolledLoop(Operand low, Operand high, Operand step, function_ref<void(Value)> body) {
    loop(low, high, step, body, /*copies=*/1);
  }
  SmallVector<Value> rolledLoop(Operand low, Operand high, Operand step, ValueRange first, CarryingBody body) {
    return loop(low, high, step, first, body, /*copies=*/1);
  }
  void choose(Value condition, function_ref<void()> then, function_ref<void()> otherwise = {});
  /// A choice between values.
  SmallVector<Value> choose(Value condition, TypeRange types, function_ref<SmallVector<Value>()> then,
                            function_ref<SmallVector<Value>()> otherwise);

  /// The address of element `index` (i64), and element `index` counted on from there.
  Value at(Value pointer, Type element, Value index);
  Value at(Value pointer, Type element, int64_t index);
  Value toInteger(Value pointer);
  /// No alignment is assumed.
  Value load(Type type, Value pointer);
  void store(Value value, Value pointer);
  /// Fetches the line at an address, which need not be there, into the second level of the cache: lines of far rows
  /// compete for the same few places of the first.
  void prefetch(Value pointer);
  /// The same for writing, into the first level.
  void prefetchForStore(Value pointer);
  /// Stack memory for so many elements, taken in `entry` and aligned to cache lines.
  Value allocate(Block *entry, Type element, int64_t count);

  static unsigned getWidth(Value a) { return getElementTypeOrSelf(a).getIntOrFloatBitWidth(); }
  static bool isLong(Value a) { return getWidth(a) == 64; }
  /// `element`, or a vector of it where `like` is a vector.
  static Type withShape(Value like, Type element);
  static bool isFloat(Value a) { return isa<FloatType>(getElementTypeOrSelf(a)); }

private:
  Value asWhole(Operand number) { return number.value ? number.value : constant(number.whole); }
  /// Both as values: at least one is.
  std::pair<Value, Value> match(Operand a, Operand b);
  template <typename FloatOp, typename IntegerOp = FloatOp> Value emit(Operand a, Operand b) {
    auto [x, y] = match(a, b);
    return isFloat(x) ? Value(create<FloatOp>(x, y)) : createOrFold<IntegerOp>(x, y);
  }
};

} // namespace mlir::resid

#endif // RESID_CODEGEN_BUILDER_CODE_H
