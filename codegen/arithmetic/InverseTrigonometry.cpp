// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// asin, acos, atan and atan2 in f64 after FDLIBM (e_asin.c, e_acos.c, s_atan.c, e_atan2.c), and the cube root.

#include "codegen/arithmetic/MathFunctions.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::arithmetic;

static constexpr double kHalfPiHigh = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;
/// (asin(sqrt(z)) - sqrt(z))/sqrt(z) for z in [0, 1/4].
static Value emitAsinTail(Code &a, Value z) {
  static constexpr double numerator[] = {1.66666666666666657415e-01, -3.25565818622400915405e-01,
                                         2.01212532134862925881e-01, -4.00555345006794114027e-02,
                                         7.91534994289814532176e-04, 3.47933107596021167570e-05};
  static constexpr double denominator[] = {1, -2.40339491173441421878e+00, 2.02094576023350569471e+00,
                                           -6.88283971605453293030e-01, 7.70381505559019352791e-02};
  return a.divide(a.multiply(z, polynomial(a, numerator, z)), polynomial(a, denominator, z));
}

namespace {
/// For |x| ≥ 1/2: asin |x| = π/2 - 2·asin(root), root = sqrt((1-|x|)/2) = short + rest; |x| > 1 gives NaN.
struct HalfAngle {
  Value root, shortRoot, rest;
};
} // namespace

static HalfAngle halveAngle(Code &a, Value z) {
  Value root = a.squareRoot(z);
  Value shortRoot = a.fromBits(a.both(a.bits(root), ~int64_t(0xFFFFFFFF)));
  Value rest = a.divide(a.fma(a.negate(shortRoot), shortRoot, z), a.add(root, shortRoot));
  return {root, shortRoot, a.select(a.isEqual(z, 0.0), 0.0, rest)};
}

Value resid::arithmetic::emitAsin(Code &a, Value x, Precision) {
  Value magnitude = a.absolute(x);
  Value isSmall = a.isBelow(magnitude, 0.5);
  Value halved = a.multiply(a.subtract(1, magnitude), 0.5);
  Value z = a.select(isSmall, a.multiply(x, x), halved);
  Value tail = emitAsinTail(a, z);
  HalfAngle half = halveAngle(a, z);
  Value excess = a.subtract(kHalfPiLow, a.multiply(half.rest, 2));
  Value bend = a.subtract(a.multiply(a.multiply(half.root, 2), tail), excess);
  bend = a.subtract(bend, a.subtract(kHalfPiHigh / 2, a.multiply(half.shortRoot, 2)));
  Value large = a.copySign(a.subtract(kHalfPiHigh / 2, bend), x);
  return a.select(isSmall, a.fma(x, tail, x),
                  a.select(a.isAbove(magnitude, 1), std::numeric_limits<double>::quiet_NaN(), large));
}

Value resid::arithmetic::emitAcos(Code &a, Value x, Precision) {
  Value magnitude = a.absolute(x);
  Value isSmall = a.isBelow(magnitude, 0.5);
  Value z = a.select(isSmall, a.multiply(x, x), a.multiply(a.subtract(1, magnitude), 0.5));
  Value tail = emitAsinTail(a, z);
  HalfAngle half = halveAngle(a, z);
  Value small = a.subtract(kHalfPiHigh, a.subtract(x, a.subtract(kHalfPiLow, a.multiply(x, tail))));
  Value positive = a.add(half.shortRoot, a.fma(tail, half.root, half.rest));
  Value bend = a.add(half.root, a.fma(tail, half.root, -kHalfPiLow));
  Value negative = a.subtract(kHalfPiHigh, bend);
  Value large = a.multiply(a.select(a.isBelow(x, 0), negative, positive), 2);
  Value result = a.select(isSmall, small, large);
  return a.select(a.isAbove(magnitude, 1), std::numeric_limits<double>::quiet_NaN(), result);
}

//===------------------------------------------- atan -------------------------------------------------------------===//

/// atan of a value ≥ 0: atan(center) + atan((x - center)/(1 + center·x)), with the nearest of five centers.
static Value emitAtanOfPositive(Code &a, Value x) {
  static constexpr double tail[] = {
      3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01, -1.11111104054623557880e-01,
      9.09088713343650656196e-02, -7.69187620504482999495e-02, 6.66107313738753120669e-02, -5.83357013379057348645e-02,
      4.97687799461593236017e-02, -3.65315727442169155270e-02, 1.62858201153657823623e-02};
  struct Center {
    double limit, numeratorOffset, numeratorScale, denominatorOffset, denominatorScale, high, low;
  };
  // The numerator is scale·x + offset, exact; so is the denominator. The last center is infinity.
  static constexpr Center centers[] = {
      {39. / 16, -1.5, 1, 1, 1.5, 9.82793723247329054082e-01, 1.39033110312309984516e-17},
      {19. / 16, -1, 1, 1, 1, 7.85398163397448278999e-01, 3.06161699786838301793e-17},
      {11. / 16, -1, 2, 2, 1, 4.63647609000806093515e-01, 2.26987774529616870924e-17},
      {7. / 16, 0, 1, 1, 0, 0, 0}};
  auto constant = [&](double number) { return a.constant(x.getType(), number); };
  Value numerator = constant(-1), denominator = x, high = constant(kHalfPiHigh), low = constant(kHalfPiLow);
  for (const Center &center : centers) {
    Value isBelow = a.isBelow(x, center.limit);
    numerator = a.select(isBelow, a.add(a.multiply(x, center.numeratorScale), center.numeratorOffset), numerator);
    denominator =
        a.select(isBelow, a.add(a.multiply(x, center.denominatorScale), center.denominatorOffset), denominator);
    high = a.select(isBelow, center.high, high);
    low = a.select(isBelow, center.low, low);
  }
  Value t = a.divide(numerator, denominator), square = a.multiply(t, t);
  Value bend = a.multiply(t, a.multiply(square, polynomial(a, tail, square)));
  return a.subtract(high, a.subtract(a.subtract(bend, low), t));
}

Value resid::arithmetic::emitAtan(Code &a, Value x, Precision) {
  return a.copySign(emitAtanOfPositive(a, a.absolute(x)), x);
}

/// atan(|y/x|), from π where x is negative. Two infinities count as equal, and 0/0 as 0.
Value resid::arithmetic::emitAtan2(Code &a, Value y, Value x, Precision) {
  Value height = a.absolute(y), width = a.absolute(x);
  Value ratio = a.select(a.isEqual(height, 0.0), 0.0, a.divide(height, width));
  ratio = a.select(a.both(a.isEqual(height, kInfinity), a.isEqual(width, kInfinity)), 1.0, ratio);
  Value angle = emitAtanOfPositive(a, ratio);
  Value mirrored = a.subtract(kHalfPiHigh * 2, a.subtract(angle, kHalfPiLow * 2));
  // The sign of x, which -0 has too.
  Value isNegative = a.isBelow(a.copySign(1, x), 0);
  Value result = a.copySign(a.select(isNegative, mirrored, angle), y);
  return a.select(a.compare(arith::CmpFPredicate::UNO, x, y), std::numeric_limits<double>::quiet_NaN(), result);
}

//===------------------------------------------- cube root --------------------------------------------------------===//

/// 2^n·cbrt(m) with m in [1, 8): a polynomial with 9 good bits, a step of Halley's with 27, and another of a value so
/// short that its square is exact.
Value resid::arithmetic::emitCbrt(Code &a, Value x, Precision) {
  static constexpr double start[] = {0.6084349186865862,   0.48881233581505845,   -0.11212010655657866,
                                     0.018251656689589422, -0.001596887337316374, 5.655254894221102e-05};
  Value magnitude = a.absolute(x);
  Value isSubnormal = a.isBelow(magnitude, std::numeric_limits<double>::min());
  Value bits = a.bits(a.select(isSubnormal, a.multiply(magnitude, 0x1p54), magnitude));
  // A third of the biased exponent, rounded down, as a product that is exact up to 2,047.
  Value third = a.shiftRight(a.multiply(a.shiftRight(bits, 52), 21846), 16);
  Value triple = a.multiply(third, 3);
  Value m = a.fromBits(a.add(bits, a.shiftLeft(a.subtract(1023, triple), 52)));
  Value t = polynomial(a, start, m);
  Value cube = a.multiply(a.multiply(t, t), t);
  t = a.divide(a.multiply(t, a.fma(m, 2, cube)), a.fma(cube, 2, m));
  t = a.fromBits(a.both(a.add(a.bits(t), 0x8000000), ~int64_t(0xFFFFFFF)));
  Value quotient = a.divide(m, a.multiply(t, t));
  t = a.fma(t, a.divide(a.subtract(quotient, t), a.fma(t, 2, quotient)), t);
  Value offset = a.select(isSubnormal, a.constant(x.getType(), 0x1p-18), 1.0);
  Value power = powerOfTwo(a, a.subtract(third, 341));
  Value result = a.copySign(a.multiply(a.multiply(t, power), offset), x);
  Value isOrdinary = a.both(a.isAbove(magnitude, 0), a.isBelow(magnitude, kInfinity));
  return a.select(isOrdinary, result, x);
}
