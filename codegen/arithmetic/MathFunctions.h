// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the math dialect as straight-line arithmetic: no calls, no branches, no tables, the same bits on
// scalars and vectors.

#ifndef RESID_CODEGEN_ARITHMETIC_MATHFUNCTIONS_H
#define RESID_CODEGEN_ARITHMETIC_MATHFUNCTIONS_H

#include "codegen/builder/Code.h"
#include <limits>

namespace mlir::resid::arithmetic {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// How good a function computed in f64 has to be: for an f64 result, or for one that is then rounded to f32.
enum class Precision { Double, Single };

// In f32 and f64. Relative errors: exp below 2e-7 and 5e-16, tanh below 4e-7 and 1e-15, erf below 2e-7 and 1e-15. NaN
// gives NaN; infinities the limits.
Value emitExp(Code &a, Value x);
/// The bits of emitExp for x of 0 or less, but +0 in place of subnormal numbers.
Value emitDecay(Code &a, Value x);
Value emitTanh(Code &a, Value x);
Value emitErf(Code &a, Value x);

/// x = n·ln 2 + r with |r| <= ln(2)/2.
struct ExponentAndRest {
  Value exponent, rest;
};
ExponentAndRest splitByLn2(Code &a, Value x);
/// exp(x) is 2^exponent·(1 + reduced), the exponent an integer.
struct Exponential {
  Value exponent, reduced;
};
/// From x, and from what splitByLn2 gives.
Exponential reduceExponential(Code &a, Value x);
Exponential expandReduced(Code &a, Value exponent, Value rest);

// In f64 only. The accuracy of each is measured in docs/accuracy.md.
using UnaryFunction = Value (*)(Code &a, Value x, Precision precision);
Value emitExp2(Code &a, Value x, Precision);
Value emitExpM1(Code &a, Value x, Precision);
Value emitSinh(Code &a, Value x, Precision);
Value emitCosh(Code &a, Value x, Precision);
Value emitErfc(Code &a, Value x, Precision precision);

Value emitLog(Code &a, Value x, Precision);
Value emitLog2(Code &a, Value x, Precision);
Value emitLog10(Code &a, Value x, Precision);
Value emitLog1p(Code &a, Value x, Precision);
Value emitAsinh(Code &a, Value x, Precision);
Value emitAcosh(Code &a, Value x, Precision);
Value emitAtanh(Code &a, Value x, Precision);

Value emitSin(Code &a, Value x, Precision precision);
Value emitCos(Code &a, Value x, Precision precision);
Value emitTan(Code &a, Value x, Precision precision);
Value emitAsin(Code &a, Value x, Precision);
Value emitAcos(Code &a, Value x, Precision);
Value emitAtan(Code &a, Value x, Precision);
Value emitAtan2(Code &a, Value y, Value x, Precision);

Value emitCbrt(Code &a, Value x, Precision);
/// `isOdd` says whether y is an odd integer, where that is known apart from y.
Value emitPow(Code &a, Value x, Value y, Value isOdd, Precision precision);

/// x less a whole multiple of y, rounded towards 0, with x's sign: the exact result. Doubles need a fused multiply-add.
Value emitRemainder(Code &a, Value x, Value y, Precision precision);

/// Whether `op` is Code::divideForInteger of f32, and others are divided by the same number, in a loop or beside it.
bool isSharedRoundedQuotient(Operation *op);
/// A number that has the same integer, and is NaN where the quotient is, without a division for each; at the builder's
/// place, but for what is shared. Needs a fused multiply-add. That no integer differs was tried for all divisors in one
/// binade and all numbers beside each half (docs/accuracy.md).
Value emitSharedRoundedQuotient(OpBuilder &builder, Operation *op);

// What formulas have in common.

/// A value as the unevaluated sum of two floats, the second at most half a unit of the first.
struct FloatPair {
  Value high, low;
};

/// The sum of coefficients[i]·x^i.
Value polynomial(Code &a, ArrayRef<double> coefficients, Value x);
/// 2^exponent for an integer within the normal exponents.
Value powerOfTwo(Code &a, Value exponent);
/// x·2^exponent rounded once, where the power itself may lie outside of the range by as much again; x is in [1/2, 4].
Value scale(Code &a, Value x, Value exponent);
/// A non-negative integer below 2^52, as an f64.
Value toFloat(Code &a, Value integer);

/// x + y (|x| ≥ |y| or x = 0), x + y and x·y without an error.
FloatPair addOrdered(Code &a, Value x, Value y);
FloatPair addExactly(Code &a, Value x, Value y);
FloatPair multiplyExactly(Code &a, Value x, Value y);

} // namespace mlir::resid::arithmetic

#endif // RESID_CODEGEN_ARITHMETIC_MATHFUNCTIONS_H
