// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// exp by reduction to |r| <= ln(2)/2 and a Taylor polynomial; tanh by exp(x)-1; erf by polynomials for erf(x)/x and for
// the scaled complement exp(x^2)·erfc(x).

#include "codegen/cpu/MathFunctions.h"
#include "mlir/IR/TypeUtilities.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

/// What differs between f32 and f64.
struct Format {
  double ln2High, ln2Low;  // their sum is ln 2; a product of ln2High with any exponent is exact
  double roundingConstant; // adding it rounds to an integer, which then stands in the last bits
  int64_t roundingBits;    // its bits
  int64_t exponentBias, mantissaBits;
  double expLow, expHigh;    // beyond, exp is 0 or infinity
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

const Format kFormat32 = {
    0.693145751953125, 1.428606820309417e-06, 0x1.8p23, 0x4B400000, 127, 23, -104.0, 89.0, 10.0, 4.0, 6, kErfSmall32,
    kErfLarge32};
const Format kFormat64 = {6.93147180369123816490e-01,
                          1.90821492927058770002e-10,
                          0x1.8p52,
                          0x4338000000000000,
                          1023,
                          52,
                          -746.0,
                          710.0,
                          20.0,
                          6.0,
                          12,
                          kErfSmall64,
                          kErfLarge64};

/// Arithmetic on floats of one type, and on integers of the same width and shape.
class FloatArithmetic {
public:
  FloatArithmetic(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), type(type), element(cast<FloatType>(getElementTypeOrSelf(type))),
        format(element.isF64() ? kFormat64 : kFormat32) {}

  const Format &getFormat() const { return format; }
  Value number(double value) { return splat(type, builder.getFloatAttr(element, value)); }
  Value integer(int64_t value) { return splat(integerType(), builder.getIntegerAttr(integerElement(), value)); }
  Value add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
  Value subtract(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
  Value multiply(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
  Value divide(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
  Value fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
  Value absolute(Value a) { return math::AbsFOp::create(builder, loc, a); }
  Value copySign(Value magnitude, Value sign) { return math::CopySignOp::create(builder, loc, magnitude, sign); }
  Value negate(Value a) { return arith::NegFOp::create(builder, loc, a); }

  /// a or, where a > limit (a < limit), limit; NaN stays.
  Value atMost(Value a, double limit) { return clamp(a, limit, arith::CmpFPredicate::OGT); }
  Value atLeast(Value a, double limit) { return clamp(a, limit, arith::CmpFPredicate::OLT); }
  Value chooseBelow(Value a, double limit, Value below, Value otherwise) {
    Value isBelow = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, number(limit));
    return arith::SelectOp::create(builder, loc, isBelow, below, otherwise);
  }

  Value polynomial(ArrayRef<double> coefficients, Value x) {
    Value result = number(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      result = fma(result, x, number(coefficient));
    return result;
  }

  /// x = n·ln 2 + r with |r| <= ln(2)/2: `exponent` is n as an integer, `reduced` is exp(r) - 1.
  struct Reduction {
    Value exponent, reduced;
  };
  Reduction reduceExponential(Value x);
  /// 2^n for n within the normal exponents.
  Value powerOfTwo(Value exponent);
  Value halve(Value exponent) { return arith::ShRSIOp::create(builder, loc, exponent, integer(1)); }
  Value subtractIntegers(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }

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
  Value clamp(Value a, double limit, arith::CmpFPredicate isBeyond) {
    Value bound = number(limit);
    Value beyond = arith::CmpFOp::create(builder, loc, isBeyond, a, bound);
    return arith::SelectOp::create(builder, loc, beyond, bound, a);
  }

  OpBuilder &builder;
  Location loc;
  Type type;
  FloatType element;
  const Format &format;
};

FloatArithmetic::Reduction FloatArithmetic::reduceExponential(Value x) {
  constexpr double log2e = 1.44269504088896340736;
  // Rounding by addition, as converting a NaN to an integer would be undefined.
  Value shifted = add(multiply(x, number(log2e)), number(format.roundingConstant));
  Value bits = arith::BitcastOp::create(builder, loc, integerType(), shifted);
  Value exponent = subtractIntegers(bits, integer(format.roundingBits));
  Value count = negate(subtract(shifted, number(format.roundingConstant)));
  Value r = fma(count, number(format.ln2Low), fma(count, number(format.ln2High), x));
  SmallVector<double> coefficients;
  double factorial = 1;
  for (unsigned i = 0; i < format.expTerms; ++i)
    coefficients.push_back(1 / (factorial *= i + 2));
  return {exponent, fma(multiply(r, r), polynomial(coefficients, r), r)};
}

Value FloatArithmetic::powerOfTwo(Value exponent) {
  Value biased = arith::AddIOp::create(builder, loc, exponent, integer(format.exponentBias));
  Value bits = arith::ShLIOp::create(builder, loc, biased, integer(format.mantissaBits));
  return arith::BitcastOp::create(builder, loc, type, bits);
}

} // namespace

Value cpu::emitExp(OpBuilder &builder, Location loc, Value x) {
  FloatArithmetic a(builder, loc, x.getType());
  x = a.atMost(a.atLeast(x, a.getFormat().expLow), a.getFormat().expHigh);
  auto [exponent, reduced] = a.reduceExponential(x);
  // In two steps, since 2^n itself may lie outside of the range where the result is inside.
  Value first = a.halve(exponent), second = a.subtractIntegers(exponent, first);
  Value result = a.multiply(a.add(reduced, a.number(1)), a.powerOfTwo(first));
  return a.multiply(result, a.powerOfTwo(second));
}

/// tanh |x| = t/(t+2) with t = exp(2|x|) - 1 = 2^n·(exp(r)-1) + (2^n-1), which keeps its relative precision near 0.
Value cpu::emitTanh(OpBuilder &builder, Location loc, Value x) {
  FloatArithmetic a(builder, loc, x.getType());
  Value magnitude = a.atMost(a.absolute(x), a.getFormat().tanhHigh);
  auto [exponent, reduced] = a.reduceExponential(a.add(magnitude, magnitude));
  Value power = a.powerOfTwo(exponent);
  Value t = a.fma(reduced, power, a.subtract(power, a.number(1)));
  return a.copySign(a.divide(t, a.add(t, a.number(2))), x);
}

Value cpu::emitErf(OpBuilder &builder, Location loc, Value x) {
  FloatArithmetic a(builder, loc, x.getType());
  Value small = a.fma(x, a.polynomial(a.getFormat().erfSmall, a.multiply(x, x)), x);
  Value magnitude = a.atMost(a.absolute(x), a.getFormat().erfHigh);
  Value variable = a.divide(a.subtract(magnitude, a.number(2)), a.add(magnitude, a.number(2)));
  Value decay = emitExp(builder, loc, a.negate(a.multiply(magnitude, magnitude)));
  Value complement = a.multiply(decay, a.polynomial(a.getFormat().erfLarge, variable));
  Value large = a.copySign(a.subtract(a.number(1), complement), x);
  return a.chooseBelow(magnitude, 1, small, large);
}
