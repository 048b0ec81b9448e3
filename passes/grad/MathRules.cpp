// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/grad/ScalarRules.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;

/// √π/2, in more digits than f64 has.
static constexpr double kHalfRootPi = 0.88622692545275801365;

/// dx = dy·factor(x, y). The factor asks for x or y, and so for what is computed again, only where it reads them.
template <typename OpT, typename Factor> static void addFactorRule(ScalarRules &rules, Factor factor) {
  addScalarRule<OpT>(rules, [factor](OpT op, ScalarGradient &g) {
    auto x = [&] { return g.get(op->getOperand(0)); };
    auto y = [&] { return g.get(op->getResult(0)); };
    g.add(op->getOperand(0), [&] { return g.times(g.getResult(), factor(g, x, y)); });
  });
}

/// dx = dy/divisor(x, y).
template <typename OpT, typename Divisor> static void addDivisorRule(ScalarRules &rules, Divisor divisor) {
  addScalarRule<OpT>(rules, [divisor](OpT op, ScalarGradient &g) {
    auto x = [&] { return g.get(op->getOperand(0)); };
    auto y = [&] { return g.get(op->getResult(0)); };
    g.add(op->getOperand(0), [&] { return g.over(g.getResult(), divisor(g, x, y)); });
  });
}

static Value square(ScalarGradient &g, Value x) { return g.times(x, x); }
static Value onePlusSquare(ScalarGradient &g, Value x) { return g.plus(g.constant(1.0), square(g, x)); }
static Value oneMinusSquare(ScalarGradient &g, Value x) { return g.minus(g.constant(1.0), square(g, x)); }
template <typename OpT> static Value apply(ScalarGradient &g, Value x) { return OpT::create(g.getBuilder(), x); }

/// exp(-x²).
static Value createBell(ScalarGradient &g, Value x) { return apply<math::ExpOp>(g, g.negate(square(g, x))); }

static void addExponentialRules(ScalarRules &rules) {
  addFactorRule<math::ExpOp>(rules, [](ScalarGradient &, auto, auto y) { return y(); });
  addFactorRule<math::Exp2Op>(
      rules, [](ScalarGradient &g, auto, auto y) { return g.times(y(), g.constant(llvm::numbers::ln2)); });
  addFactorRule<math::ExpM1Op>(rules, [](ScalarGradient &g, auto x, auto) { return apply<math::ExpOp>(g, x()); });
  addDivisorRule<math::LogOp>(rules, [](ScalarGradient &, auto x, auto) { return x(); });
  // log(1 + exp(z)) has the slope σ(z), and exp(z) may be infinite.
  addScalarRule<math::Log1pOp>(rules, [](math::Log1pOp op, ScalarGradient &g) {
    Value x = op.getOperand();
    if (auto power = x.getDefiningOp<math::ExpOp>())
      g.add(power.getOperand(),
            [&] { return g.times(g.getResult(), createSigmoid(g, g.get(power.getOperand())).value); });
    else
      g.add(x, [&] { return g.over(g.getResult(), g.plus(g.constant(1.0), g.get(x))); });
  });
  addDivisorRule<math::Log2Op>(
      rules, [](ScalarGradient &g, auto x, auto) { return g.times(x(), g.constant(llvm::numbers::ln2)); });
  addDivisorRule<math::Log10Op>(
      rules, [](ScalarGradient &g, auto x, auto) { return g.times(x(), g.constant(llvm::numbers::ln10)); });
  addFactorRule<math::ErfOp>(rules, [](ScalarGradient &g, auto x, auto) {
    return g.times(createBell(g, x()), g.constant(1.0 / kHalfRootPi));
  });
  addFactorRule<math::ErfcOp>(rules, [](ScalarGradient &g, auto x, auto) {
    return g.times(createBell(g, x()), g.constant(-1.0 / kHalfRootPi));
  });
}

static void addRootRules(ScalarRules &rules) {
  addDivisorRule<math::SqrtOp>(rules, [](ScalarGradient &g, auto, auto y) { return g.times(g.constant(2.0), y()); });
  addFactorRule<math::RsqrtOp>(rules, [](ScalarGradient &g, auto, auto y) {
    Value root = y();
    return g.times(g.times(g.constant(-0.5), root), square(g, root));
  });
  addDivisorRule<math::CbrtOp>(
      rules, [](ScalarGradient &g, auto, auto y) { return g.times(g.constant(3.0), square(g, y())); });
}

static void addTrigonometricRules(ScalarRules &rules) {
  addFactorRule<math::SinOp>(rules, [](ScalarGradient &g, auto x, auto) { return apply<math::CosOp>(g, x()); });
  addFactorRule<math::CosOp>(rules,
                             [](ScalarGradient &g, auto x, auto) { return g.negate(apply<math::SinOp>(g, x())); });
  addFactorRule<math::TanOp>(rules, [](ScalarGradient &g, auto, auto y) { return onePlusSquare(g, y()); });
  addDivisorRule<math::AsinOp>(
      rules, [](ScalarGradient &g, auto x, auto) { return apply<math::SqrtOp>(g, oneMinusSquare(g, x())); });
  addDivisorRule<math::AcosOp>(
      rules, [](ScalarGradient &g, auto x, auto) { return g.negate(apply<math::SqrtOp>(g, oneMinusSquare(g, x()))); });
  addDivisorRule<math::AtanOp>(rules, [](ScalarGradient &g, auto x, auto) { return onePlusSquare(g, x()); });
  addFactorRule<math::SinhOp>(rules, [](ScalarGradient &g, auto x, auto) { return apply<math::CoshOp>(g, x()); });
  addFactorRule<math::CoshOp>(rules, [](ScalarGradient &g, auto x, auto) { return apply<math::SinhOp>(g, x()); });
  addFactorRule<math::TanhOp>(rules, [](ScalarGradient &g, auto, auto y) { return oneMinusSquare(g, y()); });
  addDivisorRule<math::AsinhOp>(
      rules, [](ScalarGradient &g, auto x, auto) { return apply<math::SqrtOp>(g, onePlusSquare(g, x())); });
  addDivisorRule<math::AcoshOp>(rules, [](ScalarGradient &g, auto x, auto) {
    Value wide = x();
    return apply<math::SqrtOp>(g, g.times(g.minus(wide, g.constant(1.0)), g.plus(wide, g.constant(1.0))));
  });
  addDivisorRule<math::AtanhOp>(rules, [](ScalarGradient &g, auto x, auto) { return oneMinusSquare(g, x()); });
}

/// The sign of x as a factor: 0 where x is 0 or NaN.
static Value createSign(ScalarGradient &g, Value x) {
  Value one = math::CopySignOp::create(g.getBuilder(), g.constant(1.0), x);
  return g.select(g.compare(arith::CmpFPredicate::ONE, x, g.constant(0.0)), one, g.constant(0.0));
}

static void addSignRules(ScalarRules &rules) {
  addFactorRule<math::AbsFOp>(rules, [](ScalarGradient &g, auto x, auto) { return createSign(g, x()); });
  addScalarRule<math::CopySignOp>(rules, [](math::CopySignOp op, ScalarGradient &g) {
    g.add(op.getLhs(), [&] {
      Value one = math::CopySignOp::create(g.getBuilder(), g.constant(1.0), g.get(op.getResult()));
      return g.times(g.getResult(), g.times(createSign(g, g.get(op.getLhs())), one));
    });
  });
  // Steps are flat: their gradient is zero, and so no term at all.
  auto isFlat = [](Operation *, ScalarGradient &) {};
  addScalarRule<math::FloorOp>(rules, isFlat);
  addScalarRule<math::CeilOp>(rules, isFlat);
  addScalarRule<math::RoundOp>(rules, isFlat);
  addScalarRule<math::RoundEvenOp>(rules, isFlat);
  addScalarRule<math::TruncOp>(rules, isFlat);
}

/// The gradient of a power by its base: dy·(c·x^(c-1)), also where c is 0 or a small number that stands in the program.
static Value createPowerGradient(ScalarGradient &g, math::PowFOp op) {
  Value base = g.get(op.getLhs()), dy = g.getResult();
  FloatAttr constant;
  if (matchPattern(op.getRhs(), m_Constant(&constant))) {
    double exponent = constant.getValueAsDouble();
    Value factor = g.constant(exponent);
    if (exponent == 0.0)
      return factor;
    if (exponent == 2.0)
      return g.times(dy, g.times(factor, base));
    if (exponent == 3.0)
      return g.times(dy, g.times(factor, square(g, base)));
    Value power = math::PowFOp::create(g.getBuilder(), base, g.constant(exponent - 1.0));
    return g.times(dy, g.times(factor, power));
  }
  Value exponent = g.get(op.getRhs());
  Value less = g.minus(exponent, g.constant(1.0));
  Value factor = g.times(exponent, math::PowFOp::create(g.getBuilder(), base, less));
  Value isZero = g.compare(arith::CmpFPredicate::OEQ, exponent, g.constant(0.0));
  return g.select(isZero, g.constant(0.0), g.times(dy, factor));
}

/// The same for an integer: n·x^(n-1), 0 where n is 0.
static Value createIntegerPowerFactor(ScalarGradient &g, math::FPowIOp op) {
  ImplicitLocOpBuilder &builder = g.getBuilder();
  Value base = g.get(op.getLhs());
  APInt constant;
  if (matchPattern(op.getRhs(), m_ConstantInt(&constant))) {
    if (constant == 2)
      return g.times(g.constant(2.0), base);
    if (constant == 3)
      return g.times(g.constant(3.0), square(g, base));
  }
  Value exponent = g.getInteger(op.getRhs());
  Type type = exponent.getType();
  Value one = arith::ConstantOp::create(builder, builder.getIntegerAttr(type, 1));
  Value zero = arith::ConstantOp::create(builder, builder.getIntegerAttr(type, 0));
  Value less = math::FPowIOp::create(builder, base, arith::SubIOp::create(builder, exponent, one));
  Value factor = g.times(arith::SIToFPOp::create(builder, g.getType(), exponent), less);
  Value isZero = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, exponent, zero);
  return g.select(isZero, g.constant(0.0), factor);
}

static void addPowerRules(ScalarRules &rules) {
  addScalarRule<math::FPowIOp>(rules, [](math::FPowIOp op, ScalarGradient &g) {
    g.add(op.getLhs(), [&] { return g.times(g.getResult(), createIntegerPowerFactor(g, op)); });
  });
  addScalarRule<math::PowFOp>(rules, [](math::PowFOp op, ScalarGradient &g) {
    g.add(op.getLhs(), [&] { return createPowerGradient(g, op); });
    g.add(op.getRhs(), [&] {
      Value base = g.get(op.getLhs()), zero = g.constant(0.0);
      Value factor = g.times(g.get(op.getResult()), apply<math::LogOp>(g, base));
      // 0 to the power of a positive number stays 0.
      Value isZero = g.compare(arith::CmpFPredicate::OEQ, base, zero);
      Value isPositive = g.compare(arith::CmpFPredicate::OGE, g.get(op.getRhs()), zero);
      Value stays = arith::AndIOp::create(g.getBuilder(), isZero, isPositive);
      return g.times(g.getResult(), g.select(stays, zero, factor));
    });
  });
}

static void addPairRules(ScalarRules &rules) {
  addScalarRule<math::FmaOp>(rules, [](math::FmaOp op, ScalarGradient &g) {
    g.add(op.getA(), [&] { return g.times(g.getResult(), g.get(op.getB())); });
    g.add(op.getB(), [&] { return g.times(g.getResult(), g.get(op.getA())); });
    g.add(op.getC(), [&] { return g.getResult(); });
  });
  addScalarRule<math::Atan2Op>(rules, [](math::Atan2Op op, ScalarGradient &g) {
    // Divided by the larger number, squares neither overflow nor vanish. Of two zeros the quotient is 0.
    auto getQuotient = [&](Value of) {
      Value a = g.get(op.getLhs()), b = g.get(op.getRhs()), one = g.constant(1.0);
      Value larger = arith::MaximumFOp::create(g.getBuilder(), apply<math::AbsFOp>(g, a), apply<math::AbsFOp>(g, b));
      Value m = g.select(g.compare(arith::CmpFPredicate::OEQ, larger, g.constant(0.0)), one, larger);
      Value norm = g.plus(square(g, g.over(a, m)), square(g, g.over(b, m)));
      return g.over(g.over(g.over(g.get(of), m), arith::MaximumFOp::create(g.getBuilder(), norm, one)), m);
    };
    g.add(op.getLhs(), [&] { return g.times(g.getResult(), getQuotient(op.getRhs())); });
    g.add(op.getRhs(), [&] { return g.negate(g.times(g.getResult(), getQuotient(op.getLhs()))); });
  });
}

void resid::addMathRules(ScalarRules &rules) {
  addExponentialRules(rules);
  addRootRules(rules);
  addTrigonometricRules(rules);
  addSignRules(rules);
  addPowerRules(rules);
  addPairRules(rules);
}
