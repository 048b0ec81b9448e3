// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// exp by reduction to |r| <= ln(2)/2 and a Taylor polynomial; tanh by exp(x)-1; erf by polynomials for erf(x)/x and for
// the scaled complement exp(x^2)·erfc(x).

#include "codegen/arithmetic/MathFunctions.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::arithmetic;

namespace {

/// What differs between f32 and f64.
struct Format {
  double ln2High, ln2Low;  // their sum is ln 2; a product of ln2High with any exponent is exact
  double roundingConstant; // adding it rounds to an integer, which then stands in the last bits
  int64_t roundingBits;    // its bits
  double expLow, expHigh;  // beyond, exp is 0 or infinity
  double decayLow;         // its power is one below the normal ones, whose bits are 0
  double smallestNormal;
  double tanhHigh, erfHigh;  // beyond, the result is ±1
  unsigned expTerms;         // of (exp(r)-1-r)/r^2
  ArrayRef<double> erfSmall; // (erf(x)/x - 1) in x^2, |x| <= 1
  ArrayRef<double> erfLarge; // exp(x^2)·erfc(x) in (x-2)/(x+2), x >= 1
};

// Interpolation at Chebyshev points, in 60 digits: for erf(x)/x-1 over x^2 in [0,1], relative error of erf 7e-9 and
// 2e-17; for exp(x^2)·erfc(x) over x in [1,4] and [1,6], relative error 7e-8 and 2e-16.
constexpr double kErfSmall32[] = {0.12837916612625122,  -0.3761262595653534,  0.11283594369888306,
                                  -0.02685421146452427, 0.005189087241888046, -0.000801686430349946,
                                  7.875874871388078e-05};
constexpr double kErfLarge32[] = {0.25539568066596985,    -0.4271858334541321,    0.24165819585323334,
                                  -0.07897858321666718,   0.0037329180631786585,  0.0069974325597286224,
                                  -0.0008478007512167096, -0.0009812423959374428, 5.0528895371826366e-05,
                                  0.00016677835083100945};
constexpr double kErfSmall64[] = {0.1283791670955126,      -0.3761263890318375,     0.11283791670954879,
                                  -0.026866170645076792,   0.0052239776248180145,   -0.000854832698083379,
                                  0.0001205533111164271,   -1.4925595266831182e-05, 1.6461000484121368e-06,
                                  -1.6350312701054695e-07, 1.4659775274047436e-08,  -1.1372848856791674e-09,
                                  5.957176147748911e-11};
constexpr double kErfLarge64[] = {
    0.25539567631050575,     -0.4271858474139584,    0.24165819424246635,     -0.07897858101573307,
    0.0037328924043445464,   0.006997461739289707,   -0.000847143251973188,   -0.0009819770300614782,
    4.3555636007659474e-05,  0.00017436123104598304, 2.752486379492924e-05,   -2.7580431071454564e-05,
    -1.3961511685318378e-05, 1.3936794189307393e-06, 3.7498047449698438e-06,  1.1926919605542373e-06,
    -4.130608751214163e-07,  -4.99775578642227e-07,  -1.3982388076447602e-07, 5.796398068219554e-08,
    8.45185126938292e-08,    3.2450230606134464e-08, -3.425512880289054e-08};

const Format kFormat32 = {0.693145751953125,
                          1.428606820309417e-06,
                          0x1.8p23,
                          0x4B400000,
                          -104.0,
                          89.0,
                          -88.0,
                          0x1p-126,
                          10.0,
                          4.0,
                          6,
                          kErfSmall32,
                          kErfLarge32};
const Format kFormat64 = {6.93147180369123816490e-01,
                          1.90821492927058770002e-10,
                          0x1.8p52,
                          0x4338000000000000,
                          -746.0,
                          710.0,
                          -709.0,
                          0x1p-1022,
                          20.0,
                          6.0,
                          12,
                          kErfSmall64,
                          kErfLarge64};

const Format &getFormat(Value x) { return Code::isLong(x) ? kFormat64 : kFormat32; }

} // namespace

Exponential arithmetic::expandReduced(Code &a, Value exponent, Value r) {
  SmallVector<double> coefficients;
  double factorial = 1;
  for (unsigned i = 0; i < getFormat(r).expTerms; ++i)
    coefficients.push_back(1 / (factorial *= i + 2));
  return {exponent, a.fma(a.multiply(r, r), polynomial(a, coefficients, r), r)};
}

ExponentAndRest arithmetic::splitByLn2(Code &a, Value x) {
  constexpr double log2e = 1.44269504088896340736;
  const Format &format = getFormat(x);
  // Rounding by addition, as converting a NaN to an integer would be undefined.
  Value shifted = a.add(a.multiply(x, log2e), format.roundingConstant);
  Value exponent = a.subtract(a.bits(shifted), format.roundingBits);
  Value count = a.negate(a.subtract(shifted, format.roundingConstant));
  return {exponent, a.fma(count, format.ln2Low, a.fma(count, format.ln2High, x))};
}

Exponential arithmetic::reduceExponential(Code &a, Value x) {
  auto [exponent, rest] = splitByLn2(a, x);
  return expandReduced(a, exponent, rest);
}

Value arithmetic::emitExp(Code &a, Value x) {
  x = a.atMost(a.atLeast(x, getFormat(x).expLow), getFormat(x).expHigh);
  auto [exponent, reduced] = reduceExponential(a, x);
  // In two steps, since 2^n itself may lie outside of the range where the result is inside.
  return scale(a, a.add(reduced, 1), exponent);
}

/// The bits of emitExp for x from about -87 (f64: -708) to 0, where the power of two is a normal number.
static Value emitModerateDecay(Code &a, Value x) {
  auto [exponent, reduced] = reduceExponential(a, x);
  return a.multiply(a.add(reduced, 1), powerOfTwo(a, exponent));
}

/// In one step, since results whose power lies outside of the range are 0. Of a NaN, the power may be anything.
Value arithmetic::emitDecay(Code &a, Value x) {
  Value result = emitModerateDecay(a, a.atLeast(x, getFormat(x).decayLow));
  return a.select(a.isBelow(result, getFormat(x).smallestNormal), 0, result);
}

/// tanh |x| = t/(t+2) with t = exp(2|x|) - 1 = 2^n·(exp(r)-1) + (2^n-1), which keeps its relative precision near 0.
Value arithmetic::emitTanh(Code &a, Value x) {
  Value magnitude = a.atMost(a.absolute(x), getFormat(x).tanhHigh);
  auto [exponent, reduced] = reduceExponential(a, a.add(magnitude, magnitude));
  Value power = powerOfTwo(a, exponent);
  Value t = a.fma(reduced, power, a.subtract(power, 1));
  return a.copySign(a.divide(t, a.add(t, 2)), x);
}

Value arithmetic::emitErf(Code &a, Value x) {
  Value small = a.fma(x, polynomial(a, getFormat(x).erfSmall, a.multiply(x, x)), x);
  Value magnitude = a.atMost(a.absolute(x), getFormat(x).erfHigh);
  Value variable = a.divide(a.subtract(magnitude, 2), a.add(magnitude, 2));
  Value decay = emitModerateDecay(a, a.negate(a.multiply(magnitude, magnitude)));
  Value complement = a.multiply(decay, polynomial(a, getFormat(x).erfLarge, variable));
  Value large = a.copySign(a.subtract(1, complement), x);
  return a.select(a.isBelow(magnitude, 1), small, large);
}

//===------------------------------------------- what formulas have in common ------------------------------------===//

Value arithmetic::polynomial(Code &a, ArrayRef<double> coefficients, Value x) {
  Value result = a.constant(x.getType(), coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = a.fma(result, x, coefficient);
  return result;
}

Value arithmetic::powerOfTwo(Code &a, Value exponent) {
  bool isDouble = Code::isLong(exponent);
  return a.fromBits(a.shiftLeft(a.add(exponent, isDouble ? 1023 : 127), isDouble ? 52 : 23));
}

Value arithmetic::scale(Code &a, Value x, Value exponent) {
  Value first = a.create<arith::ShRSIOp>(exponent, a.constant(exponent.getType(), 1));
  Value second = a.subtract(exponent, first);
  return a.multiply(a.multiply(x, powerOfTwo(a, first)), powerOfTwo(a, second));
}

/// The bits of 2^52 hold the integer in their lowest places; x86-64 before AVX-512 has no conversion from i64.
Value arithmetic::toFloat(Code &a, Value integer) {
  return a.subtract(a.fromBits(a.either(integer, 0x4330000000000000)), 0x1p52);
}

FloatPair arithmetic::addOrdered(Code &a, Value x, Value y) {
  Value sum = a.add(x, y);
  return {sum, a.subtract(y, a.subtract(sum, x))};
}

FloatPair arithmetic::addExactly(Code &a, Value x, Value y) {
  Value sum = a.add(x, y);
  Value second = a.subtract(sum, x);
  Value first = a.subtract(sum, second);
  return {sum, a.add(a.subtract(x, first), a.subtract(y, second))};
}

/// The upper 26 bits of x and the rest (Veltkamp).
static FloatPair split(Code &a, Value x) {
  Value shifted = a.multiply(x, 0x1p27 + 1);
  Value high = a.subtract(shifted, a.subtract(shifted, x));
  return {high, a.subtract(x, high)};
}

FloatPair arithmetic::multiplyExactly(Code &a, Value x, Value y) {
  Value product = a.multiply(x, y);
  if (a.hasFMA)
    return {product, a.fma(x, y, a.negate(product))};
  FloatPair m = split(a, x), n = split(a, y);
  Value error = a.subtract(a.multiply(m.high, n.high), product);
  error = a.add(a.add(error, a.multiply(m.high, n.low)), a.multiply(m.low, n.high));
  return {product, a.add(error, a.multiply(m.low, n.low))};
}
