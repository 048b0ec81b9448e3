// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The remainder of floats, exactly: long division in steps of many bits of the quotient.

#include "codegen/arithmetic/MathFunctions.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::arithmetic;

/// a·2^exponent, where the power itself may be too large for a float.
static Value multiplyByPower(Code &a, Value value, int exponent) {
  constexpr int most = 1000;
  for (; exponent > most; exponent -= most)
    value = a.multiply(value, std::ldexp(1.0, most));
  return exponent == 0 ? value : a.multiply(value, std::ldexp(1.0, exponent));
}

/// The rest of `rest` by `divisor`, whose quotient has at most as many bits as a step. Each difference fits into a
/// float, since it is below the divisor and a multiple of the last bits of both.
static Value divideStep(Code &a, Value rest, Value divisor, Precision precision) {
  Value quotient = a.create<math::TruncOp>(a.divide(rest, divisor));
  // With 28 bits of a quotient and 24 of a divisor the product is exact, and no quotient is rounded to the next
  // integer.
  if (precision == Precision::Single)
    return a.subtract(rest, a.multiply(quotient, divisor));
  Value difference = a.fma(a.negate(quotient), divisor, rest);
  Value next = a.select(a.isBelow(difference, 0.0), a.add(difference, divisor), difference);
  return a.select(a.isEqual(divisor, std::numeric_limits<double>::infinity()), rest, next);
}

/// For f32 in f64, quotients are below 2^277; for f64 they are below 2^2098.
Value mlir::resid::arithmetic::emitRemainder(Code &a, Value x, Value y, Precision precision) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  int bits = precision == Precision::Single ? 28 : 50, steps = precision == Precision::Single ? 10 : 42;
  Value magnitude = a.absolute(x), divisor = a.absolute(y), rest = magnitude;
  for (int step = steps - 1; step >= 0; --step)
    rest = divideStep(a, rest, multiplyByPower(a, divisor, step * bits), precision);
  // The step of an infinite divisor multiplies it by 0.
  Value isWhole = a.both(a.isEqual(divisor, infinity), a.isBelow(magnitude, infinity));
  Value isInvalid = a.both(a.isEqual(magnitude, infinity), a.isEqual(divisor, infinity));
  rest = a.select(isInvalid, std::numeric_limits<double>::quiet_NaN(), rest);
  return a.copySign(a.select(isWhole, magnitude, rest), x);
}
