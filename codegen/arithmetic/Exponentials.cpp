// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows from the exponential in f64: exp2, expm1, sinh, cosh and erfc.

#include "codegen/arithmetic/MathFunctions.h"
#include <limits>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::arithmetic;

static constexpr double kRounding = 0x1.8p52;

// exp(x²)·erfc(x)·(1 + 2x) in (x-4)/(x+4) for x in [0.46875, 28]: interpolation at Chebyshev points in 60 digits, with
// a relative error below 2^-63.
static constexpr double kScaledComplement[] = {
    1.2329951186255526,      -0.1396211168405625,     0.015379652102620016,    0.06809705425469174,
    -0.10103906603632301,    0.09373283499838814,     -0.06633036581171413,    0.037167515536797584,
    -0.016197734064828974,   0.005031969984241715,    -0.0007577732310111595,  -0.00019925672548719262,
    0.0001506213821873371,   -2.4399137177113437e-05, -1.1221074766511695e-05, 5.709683465622366e-06,
    2.9183082502885276e-07,  -8.256565469973309e-07,  7.716830883625903e-08,   1.1071000891114387e-07,
    -1.9754141532691597e-08, -1.480971206292529e-08,  2.415306454859219e-09,   1.5537484516186802e-09};

/// 2^n·2^(x-n) with n the nearest integer: x - n is exact.
Value resid::arithmetic::emitExp2(Code &a, Value x, Precision) {
  x = a.atMost(a.atLeast(x, -1080), 1030);
  Value shifted = a.add(x, kRounding);
  Value exponent = a.subtract(a.bits(shifted), a.bits(a.constant(x.getType(), kRounding)));
  Value fraction = a.subtract(x, a.subtract(shifted, kRounding));
  Exponential result = expandReduced(a, exponent, a.multiply(fraction, 0.69314718055994530942));
  return scale(a, a.add(result.reduced, 1), exponent);
}

/// exp(x) - 1 for x in [-40, 710], as twice a value that does not overflow before it does.
static Value emitShifted(Code &a, Value x) {
  auto [exponent, reduced] = reduceExponential(a, x);
  Value half = powerOfTwo(a, a.subtract(exponent, 1));
  return a.multiply(a.fma(reduced, half, a.subtract(half, 0.5)), 2);
}

Value resid::arithmetic::emitExpM1(Code &a, Value x, Precision) {
  Value result = emitShifted(a, a.atMost(a.atLeast(x, -40), 710));
  return a.select(a.isBelow(a.absolute(x), 0x1p-54), x, result);
}

/// exp(x)/2 for x ≥ 0.
static Value emitHalfExp(Code &a, Value x) {
  auto [exponent, reduced] = reduceExponential(a, a.atMost(x, 712));
  return scale(a, a.add(reduced, 1), a.subtract(exponent, 1));
}

Value resid::arithmetic::emitSinh(Code &a, Value x, Precision) {
  Value magnitude = a.absolute(x);
  Value half = emitHalfExp(a, magnitude);
  Value large = a.subtract(half, a.divide(0.25, half));
  Value t = emitShifted(a, a.atMost(magnitude, 1));
  Value small = a.multiply(a.add(t, a.divide(t, a.add(t, 1))), 0.5);
  Value result = a.copySign(a.select(a.isBelow(magnitude, 1), small, large), x);
  return a.select(a.isBelow(magnitude, 0x1p-27), x, result);
}

Value resid::arithmetic::emitCosh(Code &a, Value x, Precision) {
  Value half = emitHalfExp(a, a.absolute(x));
  return a.add(half, a.divide(0.25, half));
}

/// exp(-x²) times a polynomial from 1/2 on, 1 - erf(x) below, and 2 - erfc(-x) where x < -1/2.
Value resid::arithmetic::emitErfc(Code &a, Value x, Precision precision) {
  Value magnitude = a.atMost(a.atLeast(a.absolute(x), 0.46875), 28);
  FloatPair square = precision == Precision::Double ? multiplyExactly(a, magnitude, magnitude)
                                                    : FloatPair{a.multiply(magnitude, magnitude), Value()};
  auto [exponent, reduced] = reduceExponential(a, a.negate(square.high));
  Value variable = a.divide(a.add(magnitude, -4), a.add(magnitude, 4));
  Value factor = a.divide(polynomial(a, kScaledComplement, variable), a.fma(2, magnitude, 1));
  Value product = a.fma(reduced, factor, factor);
  if (square.low)
    product = a.fma(a.negate(square.low), product, product);
  Value tail = scale(a, product, exponent);
  Value reflected = a.select(a.isBelow(x, 0), a.subtract(2, tail), tail);
  Value small = a.subtract(1, emitErf(a, a.atMost(a.atLeast(x, -0.5), 0.5)));
  Value result = a.select(a.isBelow(a.absolute(x), 0.5), small, reflected);
  return a.select(a.isNaN(x), x, result);
}
