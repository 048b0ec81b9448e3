// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sin, cos and tan in f64 for any finite argument. x·2/π is computed modulo 4 from those bits of 2/π that matter for
// x's exponent (Payne and Hanek), in floats: words of 2/π are chosen by selects, and products of them are exact. The
// polynomials on [-π/4, π/4] are those of FDLIBM (k_sin.c, k_cos.c).

#include "codegen/arithmetic/MathFunctions.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::arithmetic;

static constexpr double kRounding = 0x1.8p52;
static constexpr double kHalfPiHigh = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;

// The first 1,219 bits of 2/π in integers of 53 bits.
static constexpr double kTwoOverPi[] = {
    0x1.45f306dc9c882p+52, 0x1.4a7f09d5f47d4p+52, 0x1.a6ee06db14accp+52, 0x1.3c439041fe516p+52, 0x1.d5ef5de2b0db8p+50,
    0x1.2371d2126e970p+51, 0x1.924bba8274600p+45, 0x1.21cfe1deb1cb1p+52, 0x1.4d39f74411af8p+50, 0x1.4baed1213a671p+52,
    0x1.8135a2fbf209cp+52, 0x1.91d639835339fp+52, 0x1.272117e2ef7e4p+51, 0x1.41d8ffc4bffeep+51, 0x1.02cc07f79788cp+52,
    0x1.6b414da3eda6cp+51, 0x1.fb3c9f2c26dd2p+51, 0x1.d18fd9a797fa8p+52, 0x1.6ba93dd63f5f2p+52, 0x1.f17b3d0739f78p+52,
    0x1.4a525d4d7f6bfp+52, 0x1.88fc6ae842b00p+51, 0x1.98237e3db5d5fp+52};

namespace {
/// 2/π without the bits that give multiples of 4 with an f32 of at least 2^exponent: three words of 28 bits, then 53.
struct ShortWindow {
  int exponent;
  double words[4];
};
/// x = (4i + quadrant)·π/2 + rest; `quadrant` is an integer of which the last two bits count.
struct Reduction {
  Value quadrant;
  FloatPair rest;
};
} // namespace

static constexpr ShortWindow kShortWindows[] = {
    {0, {0x1.45f306c000000p-1, 0x1.c9c882a000000p-29, 0x1.4fe13a8000000p-59, 0x1.f47d4d377036ep-86}},
    {50, {0x1.b939104000000p-26, 0x1.4a7f09c000000p-54, 0x1.5f47d4c000000p-82, 0x1.377036d8a5665p-110}},
    {75, {0x1.529fc24000000p-52, 0x1.abe8fa8000000p-79, 0x1.a6ee06c000000p-107, 0x1.b14acc9e21c82p-135}},
    {100, {0x1.d5f47d0000000p-78, 0x1.34ddc0c000000p-104, 0x1.b629598000000p-132, 0x1.3c439041fe516p-160}}};

/// v less a multiple of 4, in [-2, 2]; exact.
static Value reduceModulo4(Code &a, Value v) {
  return a.subtract(v, a.multiply(a.roundToInteger(a.multiply(v, 0.25)), 4));
}

/// The integer nearest to `sum`, as bits, and `value` less that integer.
static std::pair<Value, Value> takeInteger(Code &a, Value sum, Value value) {
  Value shifted = a.add(sum, kRounding);
  return {a.bits(shifted), a.subtract(value, a.subtract(shifted, kRounding))};
}

/// For an x that is an f32. The products with words of 28 bits are exact, and so are their sums as far as terms cancel.
static Reduction reduceSingle(Code &a, Value x) {
  SmallVector<Value> words;
  for (double word : kShortWindows[0].words)
    words.push_back(a.constant(x.getType(), word));
  Value magnitude = a.absolute(x);
  for (const ShortWindow &window : llvm::drop_begin(kShortWindows)) {
    Value isBelow = a.isBelow(magnitude, std::ldexp(1.0, window.exponent));
    for (auto [word, next] : llvm::zip_equal(words, window.words))
      word = a.select(isBelow, word, next);
  }
  Value first = reduceModulo4(a, a.multiply(x, words[0])), second = reduceModulo4(a, a.multiply(x, words[1]));
  auto [quadrant, fraction] = takeInteger(a, a.add(first, second), first);
  fraction = a.add(a.add(a.add(fraction, second), a.multiply(x, words[2])), a.multiply(x, words[3]));
  return {quadrant, {a.multiply(fraction, kHalfPiHigh), Value()}};
}

/// Five words of 2/π from number j on, and x·2^(-53j), where words before j give multiples of 4 with x.
static std::pair<SmallVector<Value>, Value> chooseWords(Code &a, Value x) {
  Value biased = a.both(a.shiftRight(a.bits(x), 52), 0x7FF);
  // j = max(0, floor((exponent - 54)/53)), the division as a product that is exact up to 970.
  Value past = a.subtract(biased, 1077);
  past = a.create<arith::MaxSIOp>(past, a.constant(past.getType(), 0));
  Value j = a.shiftRight(a.multiply(past, 1237), 16);
  SmallVector<Value> words;
  for (double word : kTwoOverPi)
    words.push_back(a.constant(x.getType(), word));
  for (int64_t step : {16, 8, 4, 2, 1}) {
    Value stays = a.isEqual(a.both(j, step), 0);
    SmallVector<Value> shifted;
    for (size_t i = 0, e = std::min<size_t>(words.size(), 4 + step); i != e; ++i)
      shifted.push_back(i + step < words.size() ? a.select(stays, words[i], words[i + step]) : words[i]);
    words = std::move(shifted);
  }
  Value scaled = a.subtract(a.bits(x), a.shiftLeft(a.multiply(j, 53), 52));
  return {words, a.fromBits(scaled)};
}

/// Makes the first term the sum of all, rounded, and the others what is lost on the way; all together stay the same.
static void distill(Code &a, MutableArrayRef<Value> terms) {
  for (size_t i = terms.size() - 1; i != 0; --i) {
    FloatPair sum = addExactly(a, terms[i - 1], terms[i]);
    terms[i - 1] = sum.high;
    terms[i] = sum.low;
  }
}

/// For any f64. No multiple of π/2 is nearer than 2^-61 to one, so that 2^-157 in x·2/π is far below its last bit.
static Reduction reduceDouble(Code &a, Value x) {
  auto [words, scaled] = chooseWords(a, x);
  SmallVector<Value> terms;
  for (auto [i, word] : llvm::enumerate(words)) {
    scaled = a.multiply(scaled, 0x1p-53);
    if (i + 1 == words.size()) {
      terms.push_back(a.multiply(scaled, word));
      break;
    }
    FloatPair product = multiplyExactly(a, scaled, word);
    terms.push_back(i < 2 ? reduceModulo4(a, product.high) : product.high);
    terms.push_back(i < 1 ? reduceModulo4(a, product.low) : product.low);
  }
  distill(a, terms);
  auto [quadrant, fraction] = takeInteger(a, terms.front(), terms.front());
  terms.front() = fraction;
  distill(a, terms);
  Value low = terms.back();
  for (Value term : llvm::reverse(ArrayRef<Value>(terms).drop_front().drop_back()))
    low = a.add(low, term);
  FloatPair rest = multiplyExactly(a, terms.front(), a.constant(x.getType(), kHalfPiHigh));
  rest.low = a.add(rest.low, a.fma(terms.front(), kHalfPiLow, a.multiply(low, kHalfPiHigh)));
  rest = addOrdered(a, rest.high, rest.low);
  Value isReduced = a.isBelow(a.absolute(x), kHalfPiHigh / 2);
  return {a.select(isReduced, 0, quadrant), {a.select(isReduced, x, rest.high), a.select(isReduced, 0.0, rest.low)}};
}

static Reduction reduce(Code &a, Value x, Precision precision) {
  return precision == Precision::Single ? reduceSingle(a, x) : reduceDouble(a, x);
}

static Value emitSinOfRest(Code &a, FloatPair x) {
  static constexpr double tail[] = {8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                    -2.50507602534068634195e-08, 1.58969099521155010221e-10};
  constexpr double sixth = -1.66666666666666324348e-01;
  Value square = a.multiply(x.high, x.high), cube = a.multiply(square, x.high);
  Value rest = polynomial(a, tail, square);
  if (!x.low)
    return a.fma(cube, a.fma(square, rest, sixth), x.high);
  Value shifted = a.subtract(a.multiply(x.low, 0.5), a.multiply(cube, rest));
  Value bend = a.fma(a.negate(cube), sixth, a.subtract(a.multiply(square, shifted), x.low));
  return a.subtract(x.high, bend);
}

static Value emitCosOfRest(Code &a, FloatPair x) {
  static constexpr double tail[] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                                    2.48015872894767294178e-05, -2.75573143513906633035e-07,
                                    2.08757232129817482790e-09, -1.13596475577881948265e-11};
  Value square = a.multiply(x.high, x.high), half = a.multiply(square, 0.5);
  Value rest = a.multiply(a.multiply(square, square), polynomial(a, tail, square));
  if (x.low)
    rest = a.subtract(rest, a.multiply(x.high, x.low));
  Value high = a.subtract(1, half);
  return a.add(high, a.add(a.subtract(a.subtract(1, high), half), rest));
}

/// The sine (or, where `isOdd`, cosine) of the rest, negated in the two quadrants of four where `quadrant`'s bit 1 is
/// set.
static Value emitQuadrant(Code &a, Value x, const Reduction &reduced, Value quadrant) {
  Value isEven = a.isEqual(a.both(quadrant, 1), 0);
  Value result = a.select(isEven, emitSinOfRest(a, reduced.rest), emitCosOfRest(a, reduced.rest));
  Value negated = a.select(a.isEqual(a.both(quadrant, 2), 0), result, a.negate(result));
  return a.select(a.isBelow(a.absolute(x), std::numeric_limits<double>::infinity()), negated,
                  std::numeric_limits<double>::quiet_NaN());
}

Value resid::arithmetic::emitSin(Code &a, Value x, Precision precision) {
  Reduction reduced = reduce(a, x, precision);
  Value result = emitQuadrant(a, x, reduced, reduced.quadrant);
  // The sums of the reduction lose the sign of -0.
  return a.select(a.isEqual(x, 0.0), x, result);
}

Value resid::arithmetic::emitCos(Code &a, Value x, Precision precision) {
  Reduction reduced = reduce(a, x, precision);
  return emitQuadrant(a, x, reduced, a.add(reduced.quadrant, 1));
}

Value resid::arithmetic::emitTan(Code &a, Value x, Precision precision) {
  Reduction reduced = reduce(a, x, precision);
  Value sine = emitSinOfRest(a, reduced.rest), cosine = emitCosOfRest(a, reduced.rest);
  Value isEven = a.isEqual(a.both(reduced.quadrant, 1), 0);
  Value result = a.divide(a.select(isEven, sine, a.negate(cosine)), a.select(isEven, cosine, sine));
  result = a.select(a.isEqual(x, 0.0), x, result);
  return a.select(a.isBelow(a.absolute(x), std::numeric_limits<double>::infinity()), result,
                  std::numeric_limits<double>::quiet_NaN());
}
