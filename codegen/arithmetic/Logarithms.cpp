// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Logarithms in f64 and the inverse hyperbolic functions, which follow from log1p; powers, by a logarithm in twice the
// precision. The series for log(1+f) and the constants are those of FDLIBM (e_log.c, s_log1p.c, e_log10.c).

#include "codegen/arithmetic/MathFunctions.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::arithmetic;

static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// ln 2 = high + low; the product of high with any exponent is exact.
static constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
// (log(1+f) - 2s - …)/s in s², with s = f/(2+f).
static constexpr double kSeries[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                     2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                     1.479819860511658591e-01};

namespace {
/// x = 2^exponent·mantissa with the mantissa in [sqrt(1/2), sqrt(2)); the exponent is an integral float.
struct Decomposition {
  Value exponent, mantissa;
};
/// log(1+f) = f - halfSquare + rest.
struct Series {
  Value halfSquare, rest;
};
/// A number as the sum of two.
struct TwoNumbers {
  double high, low;
};
} // namespace

/// x is finite and positive; what other values give is overruled by the caller.
static Decomposition decompose(Code &a, Value x) {
  Value isSubnormal = a.isBelow(x, std::numeric_limits<double>::min());
  Value normal = a.select(isSubnormal, a.multiply(x, 0x1p54), x);
  constexpr int64_t one = 0x3FF0000000000000, rootOfHalf = 0x3FE6A09E667F3BCD;
  Value shifted = a.add(a.bits(normal), one - rootOfHalf);
  Value exponent = toFloat(a, a.shiftRight(shifted, 52));
  exponent = a.subtract(exponent, a.select(isSubnormal, a.constant(x.getType(), 1023 + 54), 1023));
  Value mantissa = a.add(a.both(shifted, 0x000FFFFFFFFFFFFF), rootOfHalf);
  return {exponent, a.fromBits(mantissa)};
}

static Series expandLog1p(Code &a, Value f) {
  Value s = a.divide(f, a.add(f, 2));
  Value z = a.multiply(s, s);
  Value halfSquare = a.multiply(a.multiply(f, 0.5), f);
  Value tail = a.multiply(z, polynomial(a, kSeries, z));
  return {halfSquare, a.multiply(s, a.add(halfSquare, tail))};
}

/// -Inf at 0, NaN below; infinity and NaN themselves.
static Value finishLog(Code &a, Value x, Value result) {
  result = a.select(a.isBelow(x, kInfinity), result, x);
  result = a.select(a.isEqual(x, 0.0), -kInfinity, result);
  return a.select(a.isBelow(x, 0), kNaN, result);
}

/// k·ln 2 + log(1+f) + correction.
static Value sumLog(Code &a, Value k, Value f, Value correction) {
  Series series = expandLog1p(a, f);
  Value low = a.fma(k, kLn2Low, correction ? a.add(series.rest, correction) : series.rest);
  Value sum = a.subtract(f, a.subtract(series.halfSquare, low));
  return a.fma(k, kLn2High, sum);
}

Value resid::arithmetic::emitLog(Code &a, Value x, Precision) {
  auto [exponent, mantissa] = decompose(a, x);
  return finishLog(a, x, sumLog(a, exponent, a.add(mantissa, -1), Value()));
}

/// log(x)·factor + k·ofTwo, where log(1+f) is a sum of two floats, the first short enough for exact products.
static Value emitScaledLog(Code &a, Value x, TwoNumbers factor, TwoNumbers ofTwo) {
  auto [k, mantissa] = decompose(a, x);
  Value f = a.add(mantissa, -1);
  Series series = expandLog1p(a, f);
  Value high = a.fromBits(a.both(a.bits(a.subtract(f, series.halfSquare)), ~int64_t(0xFFFFFFFF)));
  Value low = a.add(a.subtract(a.subtract(f, high), series.halfSquare), series.rest);
  FloatPair sum = addOrdered(a, a.multiply(k, ofTwo.high), a.multiply(high, factor.high));
  Value rest = a.fma(a.add(low, high), factor.low, a.multiply(low, factor.high));
  rest = a.add(a.fma(k, ofTwo.low, rest), sum.low);
  return finishLog(a, x, a.add(sum.high, rest));
}

Value resid::arithmetic::emitLog2(Code &a, Value x, Precision) {
  return emitScaledLog(a, x, {1.44269504072144627571e+00, 1.67517131648865118353e-10}, {1, 0});
}

Value resid::arithmetic::emitLog10(Code &a, Value x, Precision) {
  return emitScaledLog(a, x, {4.34294481878168880939e-01, 2.50829467116452752298e-11},
                       {3.01029995663611771306e-01, 3.69423907715893078616e-13});
}

/// u = 1 + x has an error, which divided by u corrects its logarithm; where u needs no power of two, x itself is f.
Value resid::arithmetic::emitLog1p(Code &a, Value x, Precision) {
  FloatPair u = addExactly(a, a.constant(x.getType(), 1), x);
  auto [exponent, mantissa] = decompose(a, u.high);
  Value isNear = a.isEqual(exponent, 0.0);
  Value f = a.select(isNear, x, a.add(mantissa, -1));
  Value correction = a.select(isNear, 0.0, a.divide(u.low, u.high));
  Value result = finishLog(a, u.high, sumLog(a, exponent, f, correction));
  return a.select(a.isBelow(a.absolute(x), 0x1p-54), x, result);
}

//===------------------------------------------- inverse hyperbolic functions -------------------------------------===//

/// log(2x), where x + sqrt(x² ± 1) is 2x to the last bit.
static Value emitLogOfTwice(Code &a, Value x) {
  return a.add(emitLog(a, x, Precision::Double), 0.69314718055994530942);
}

Value resid::arithmetic::emitAsinh(Code &a, Value x, Precision precision) {
  Value magnitude = a.absolute(x);
  Value square = a.multiply(magnitude, magnitude);
  Value growth = a.divide(square, a.add(a.squareRoot(a.add(square, 1)), 1));
  Value near = emitLog1p(a, a.add(magnitude, growth), precision);
  Value result = a.select(a.isBelow(magnitude, 0x1p28), near, emitLogOfTwice(a, magnitude));
  return a.copySign(result, x);
}

Value resid::arithmetic::emitAcosh(Code &a, Value x, Precision precision) {
  Value t = a.add(x, -1);
  Value near = emitLog1p(a, a.add(t, a.squareRoot(a.multiply(t, a.add(t, 2)))), precision);
  Value result = a.select(a.isBelow(x, 0x1p28), near, emitLogOfTwice(a, x));
  return a.select(a.isBelow(x, 1), kNaN, result);
}

Value resid::arithmetic::emitAtanh(Code &a, Value x, Precision precision) {
  Value magnitude = a.absolute(x);
  Value ratio = a.divide(a.add(magnitude, magnitude), a.subtract(1, magnitude));
  return a.copySign(a.multiply(emitLog1p(a, ratio, precision), 0.5), x);
}

//===------------------------------------------- powers -----------------------------------------------------------===//

static FloatPair multiplyPairs(Code &a, FloatPair x, FloatPair y) {
  FloatPair product = multiplyExactly(a, x.high, y.high);
  Value low = a.fma(x.high, y.low, a.fma(x.low, y.high, product.low));
  return addOrdered(a, product.high, low);
}

/// log x with a relative error below 2^-62: 2s·(1 + s²/3 + …), where only the terms from s⁴ on are single floats.
static FloatPair emitLogPair(Code &a, Value x) {
  constexpr double third = 0x1.5555555555555p-2, restOfThird = 0x1.5555555555555p-56;
  // 1/5, 1/7 …, 1/21: s² is below 0.0295.
  static constexpr double tail[] = {1. / 5,  1. / 7,  1. / 9,  1. / 11, 1. / 13,
                                    1. / 15, 1. / 17, 1. / 19, 1. / 21, 1. / 23};
  auto [k, mantissa] = decompose(a, x);
  Value f = a.add(mantissa, -1);
  FloatPair denominator = addExactly(a, mantissa, a.constant(x.getType(), 1));
  Value quotient = a.divide(f, denominator.high);
  FloatPair product = multiplyExactly(a, quotient, denominator.high);
  Value remainder = a.subtract(a.subtract(f, product.high), product.low);
  remainder = a.subtract(remainder, a.multiply(quotient, denominator.low));
  FloatPair s{quotient, a.divide(remainder, denominator.high)};
  FloatPair square = multiplyPairs(a, s, s);
  FloatPair inner = multiplyPairs(a, square, {a.constant(x.getType(), third), a.constant(x.getType(), restOfThird)});
  Value high4 = a.multiply(a.multiply(square.high, square.high), polynomial(a, tail, square.high));
  inner = addOrdered(a, inner.high, a.add(inner.low, high4));
  FloatPair bend = multiplyPairs(a, s, inner);
  FloatPair sum = addOrdered(a, s.high, bend.high);
  FloatPair half = addOrdered(a, sum.high, a.add(sum.low, a.add(s.low, bend.low)));
  // k·ln 2 in three parts, of which the first times k is exact.
  Value high = a.multiply(k, 0x1.62e42fee00000p-1), low = a.multiply(k, 0x1.a39ef35793c76p-33);
  FloatPair total = addOrdered(a, high, a.multiply(half.high, 2));
  FloatPair middle = addExactly(a, total.low, low);
  Value lowError = a.fma(k, 0x1.a39ef35793c76p-33, a.negate(low));
  Value rest = a.add(a.add(middle.low, lowError), a.multiply(half.low, 2));
  FloatPair first = addOrdered(a, total.high, middle.high);
  return addOrdered(a, first.high, a.add(first.low, rest));
}

/// exp(high + low), 0 or infinity past the range.
static Value emitExpOfPair(Code &a, FloatPair x) {
  Value inside = a.isBelow(a.absolute(x.high), 800);
  auto [exponent, rest] = splitByLn2(a, a.atMost(a.atLeast(x.high, -800), 800));
  if (x.low)
    rest = a.add(rest, a.select(inside, x.low, 0));
  Exponential result = expandReduced(a, exponent, rest);
  return scale(a, a.add(result.reduced, 1), exponent);
}

/// |x|^y, apart from what IEEE 754 says about 1, 0 and NaN.
static Value emitPositivePower(Code &a, Value magnitude, Value y, Precision precision) {
  if (precision == Precision::Single)
    return emitExpOfPair(a, {a.multiply(y, emitLog(a, magnitude, precision)), Value()});
  FloatPair log = emitLogPair(a, magnitude);
  log.high = a.select(a.isBelow(magnitude, kInfinity), log.high, magnitude);
  log.high = a.select(a.isEqual(magnitude, 0.0), -kInfinity, log.high);
  FloatPair product = multiplyExactly(a, y, log.high);
  return emitExpOfPair(a, {product.high, a.fma(y, log.low, product.low)});
}

Value resid::arithmetic::emitPow(Code &a, Value x, Value y, Value isOdd, Precision precision) {
  Value magnitude = a.absolute(x);
  Value result = emitPositivePower(a, magnitude, y, precision);
  Value isInteger = a.isEqual(a.roundToInteger(y), y);
  if (!isOdd) {
    Value half = a.multiply(y, 0.5);
    isOdd = a.both(isInteger, a.compare(arith::CmpFPredicate::UNE, a.roundToInteger(half), half));
  }
  result = a.copySign(result, a.select(isOdd, x, magnitude));
  Value isNegative = a.both(a.isBelow(x, 0), a.isAbove(x, -kInfinity));
  Value hasNoRoot = a.both(isNegative, a.compare(arith::CmpFPredicate::ONE, a.roundToInteger(y), y));
  result = a.select(hasNoRoot, kNaN, result);
  Value isInfinite = a.isEqual(a.absolute(y), kInfinity);
  result = a.select(a.both(a.isEqual(x, -1.0), isInfinite), 1.0, result);
  Value isOne = a.either(a.isEqual(x, 1.0), a.isEqual(y, 0.0));
  return a.select(isOne, 1.0, result);
}
