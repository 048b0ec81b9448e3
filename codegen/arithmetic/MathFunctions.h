// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the math dialect as straight-line arithmetic: no calls, no branches, no tables, the same bits on
// scalars and vectors.

#ifndef RESID_CODEGEN_ARITHMETIC_MATHFUNCTIONS_H
#define RESID_CODEGEN_ARITHMETIC_MATHFUNCTIONS_H

#include "codegen/arithmetic/FloatArithmetic.h"

namespace mlir::resid::arithmetic {

/// How good a function computed in f64 has to be: for an f64 result, or for one that is then rounded to f32.
enum class Precision { Double, Single };

// In f32 and f64. Relative errors: exp below 2e-7 and 5e-16, tanh below 4e-7 and 1e-15, erf below 2e-7 and 1e-15. NaN
// gives NaN; infinities the limits.
Value emitExp(FloatArithmetic &a, Value x);
/// The bits of emitExp for x of 0 or less, but +0 in place of subnormal numbers.
Value emitDecay(FloatArithmetic &a, Value x);
Value emitTanh(FloatArithmetic &a, Value x);
Value emitErf(FloatArithmetic &a, Value x);

/// x = n·ln 2 + r with |r| <= ln(2)/2.
struct ExponentAndRest {
  Value exponent, rest;
};
ExponentAndRest splitByLn2(FloatArithmetic &a, Value x);
/// exp(x) is 2^exponent·(1 + reduced), the exponent an integer.
struct Exponential {
  Value exponent, reduced;
};
/// From x, and from what splitByLn2 gives.
Exponential reduceExponential(FloatArithmetic &a, Value x);
Exponential expandReduced(FloatArithmetic &a, Value exponent, Value rest);

// In f64 only. The accuracy of each is measured in docs/accuracy.md.
using UnaryFunction = Value (*)(FloatArithmetic &a, Value x, Precision precision);
Value emitExp2(FloatArithmetic &a, Value x, Precision);
Value emitExpM1(FloatArithmetic &a, Value x, Precision);
Value emitSinh(FloatArithmetic &a, Value x, Precision);
Value emitCosh(FloatArithmetic &a, Value x, Precision);
Value emitErfc(FloatArithmetic &a, Value x, Precision precision);

Value emitLog(FloatArithmetic &a, Value x, Precision);
Value emitLog2(FloatArithmetic &a, Value x, Precision);
Value emitLog10(FloatArithmetic &a, Value x, Precision);
Value emitLog1p(FloatArithmetic &a, Value x, Precision);
Value emitAsinh(FloatArithmetic &a, Value x, Precision);
Value emitAcosh(FloatArithmetic &a, Value x, Precision);
Value emitAtanh(FloatArithmetic &a, Value x, Precision);

Value emitSin(FloatArithmetic &a, Value x, Precision precision);
Value emitCos(FloatArithmetic &a, Value x, Precision precision);
Value emitTan(FloatArithmetic &a, Value x, Precision precision);
Value emitAsin(FloatArithmetic &a, Value x, Precision);
Value emitAcos(FloatArithmetic &a, Value x, Precision);
Value emitAtan(FloatArithmetic &a, Value x, Precision);
Value emitAtan2(FloatArithmetic &a, Value y, Value x, Precision);

Value emitCbrt(FloatArithmetic &a, Value x, Precision);
/// `isOdd` says whether y is an odd integer, where that is known apart from y.
Value emitPow(FloatArithmetic &a, Value x, Value y, Value isOdd, Precision precision);

/// x less a whole multiple of y, rounded towards 0, with x's sign: the exact result. Doubles need a fused multiply-add.
Value emitRemainder(FloatArithmetic &a, Value x, Value y, Precision precision);

} // namespace mlir::resid::arithmetic

#endif // RESID_CODEGEN_ARITHMETIC_MATHFUNCTIONS_H
