// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions; see FloatFunctions.h. Owns no registers.

#include "reference/FloatFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "reference/Bounds.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

namespace mlir::resid::reference {

double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
double minimum(double a, double b) { return -maximum(-a, -b); }

namespace {

using Binary = double (*)(double, double);
using Unary = double (*)(double);

double maxNumber(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : maximum(a, b); }
double minNumber(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : minimum(a, b); }

Binary getExactBinary(Operation *op) {
  return llvm::TypeSwitch<Operation *, Binary>(op)
      .Case([](arith::AddFOp) { return [](double a, double b) { return a + b; }; })
      .Case([](arith::SubFOp) { return [](double a, double b) { return a - b; }; })
      .Case([](arith::MulFOp) { return [](double a, double b) { return a * b; }; })
      .Case([](arith::DivFOp) { return [](double a, double b) { return a / b; }; })
      .Case([](arith::RemFOp) { return [](double a, double b) { return std::fmod(a, b); }; })
      .Case([](arith::MaximumFOp) { return maximum; })
      .Case([](arith::MinimumFOp) { return minimum; })
      .Case([](math::CopySignOp) { return [](double a, double b) { return std::copysign(a, b); }; })
      .Default(Binary(nullptr));
}

Unary getExactUnary(Operation *op) {
  return llvm::TypeSwitch<Operation *, Unary>(op)
      .Case([](arith::NegFOp) { return [](double a) { return -a; }; })
      .Case([](math::AbsFOp) { return [](double a) { return std::fabs(a); }; })
      .Case([](math::CeilOp) { return [](double a) { return std::ceil(a); }; })
      .Case([](math::FloorOp) { return [](double a) { return std::floor(a); }; })
      .Case([](math::RoundOp) { return [](double a) { return std::round(a); }; })
      .Case([](math::RoundEvenOp) { return [](double a) { return std::nearbyint(a); }; })
      .Case([](math::TruncOp) { return [](double a) { return std::trunc(a); }; })
      .Case([](math::SqrtOp) { return [](double a) { return std::sqrt(a); }; })
      .Default(Unary(nullptr));
}

/// Computed in float64 and rounded once; compiled code has polynomials of its own.
Unary getTranscendental(Operation *op) {
  return llvm::TypeSwitch<Operation *, Unary>(op)
      .Case([](math::ExpOp) { return [](double a) { return std::exp(a); }; })
      .Case([](math::Exp2Op) { return [](double a) { return std::exp2(a); }; })
      .Case([](math::ExpM1Op) { return [](double a) { return std::expm1(a); }; })
      .Case([](math::LogOp) { return [](double a) { return std::log(a); }; })
      .Case([](math::Log2Op) { return [](double a) { return std::log2(a); }; })
      .Case([](math::Log10Op) { return [](double a) { return std::log10(a); }; })
      .Case([](math::Log1pOp) { return [](double a) { return std::log1p(a); }; })
      .Case([](math::RsqrtOp) { return [](double a) { return 1.0 / std::sqrt(a); }; })
      .Case([](math::CbrtOp) { return [](double a) { return std::cbrt(a); }; })
      .Case([](math::SinOp) { return [](double a) { return std::sin(a); }; })
      .Case([](math::CosOp) { return [](double a) { return std::cos(a); }; })
      .Case([](math::TanOp) { return [](double a) { return std::tan(a); }; })
      .Case([](math::AsinOp) { return [](double a) { return std::asin(a); }; })
      .Case([](math::AcosOp) { return [](double a) { return std::acos(a); }; })
      .Case([](math::AcoshOp) { return [](double a) { return std::acosh(a); }; })
      .Case([](math::AsinhOp) { return [](double a) { return std::asinh(a); }; })
      .Case([](math::AtanhOp) { return [](double a) { return std::atanh(a); }; })
      .Case([](math::AtanOp) { return [](double a) { return std::atan(a); }; })
      .Case([](math::SinhOp) { return [](double a) { return std::sinh(a); }; })
      .Case([](math::CoshOp) { return [](double a) { return std::cosh(a); }; })
      .Case([](math::TanhOp) { return [](double a) { return std::tanh(a); }; })
      .Case([](math::ErfOp) { return [](double a) { return std::erf(a); }; })
      .Case([](math::ErfcOp) { return [](double a) { return std::erfc(a); }; })
      .Default(Unary(nullptr));
}

bounds::FunctionFamily getFamily(Operation *op) {
  using Family = bounds::FunctionFamily;
  if (isa<math::ExpOp>(op))
    return Family::Exponential;
  if (isa<math::RsqrtOp>(op))
    return Family::ReciprocalRoot;
  return isa<math::TanhOp, math::ErfOp>(op) ? Family::TanhOrErf : Family::InDouble;
}

/// maxnumf and minnumf are exact but for the sign of a zero, which the smallest of bounds leaves open.
double getBinaryUnits(Operation *op, FloatKind kind) {
  constexpr double signOfZero = 0x1p-30;
  return isa<arith::MaxNumFOp, arith::MinNumFOp>(op) ? signOfZero
                                                     : bounds::functionUnits(bounds::FunctionFamily::InDouble, kind);
}

/// maxnumf and minnumf may give either of +0 and -0.
Binary getInexactBinary(Operation *op) {
  return llvm::TypeSwitch<Operation *, Binary>(op)
      .Case([](arith::MaxNumFOp) { return maxNumber; })
      .Case([](arith::MinNumFOp) { return minNumber; })
      .Case([](math::PowFOp) { return [](double a, double b) { return std::pow(a, b); }; })
      .Case([](math::Atan2Op) { return [](double a, double b) { return std::atan2(a, b); }; })
      .Default(Binary(nullptr));
}

} // namespace

FloatFunction getFloatFunction(Operation *op, FloatKind kind) {
  FloatFunction function;
  if ((function.binary = getExactBinary(op)) || (function.unary = getExactUnary(op)))
    return function;
  if ((function.unary = getTranscendental(op)))
    function.units = bounds::functionUnits(getFamily(op), kind);
  else if ((function.binary = getInexactBinary(op)))
    function.units = getBinaryUnits(op, kind);
  return function;
}

} // namespace mlir::resid::reference
