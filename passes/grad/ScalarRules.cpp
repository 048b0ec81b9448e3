// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/grad/ScalarRules.h"

#include "dialect/Shapes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::resid;

Value resid::convertElements(ImplicitLocOpBuilder &builder, Value value, Type type) {
  unsigned from = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  // Between f16 and bf16, both of which f32 holds exactly.
  if (from == to) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    Type wide = builder.getF32Type();
    value = arith::ExtFOp::create(builder, tensor ? Type(tensor.clone(wide)) : wide, value);
  }
  return from < to ? Value(arith::ExtFOp::create(builder, type, value)) : arith::TruncFOp::create(builder, type, value);
}

Value ScalarGradient::get(Value value) { return convertElements(builder, getPrimal(value), getType()); }

Value Numbers::constant(double value) const {
  return arith::ConstantFloatOp::create(builder, type, roundToArithmetic(APFloat(value), type));
}

Value Numbers::compare(arith::CmpFPredicate predicate, Value a, Value b) const {
  return arith::CmpFOp::create(builder, predicate, a, b);
}

/// With e = exp(-|z|), nothing overflows: p = 1/(1 + e) and q = e·p are σ(z) and σ(-z), or the other way round, and σ'
/// is p·q.
Point resid::createSigmoid(const Numbers &steps, Value z) {
  Value e = math::ExpOp::create(steps.getBuilder(), steps.negate(math::AbsFOp::create(steps.getBuilder(), z)));
  Value one = steps.constant(1.0);
  Value p = steps.over(one, steps.plus(one, e));
  Value q = steps.times(e, p);
  Value isPositive = steps.compare(arith::CmpFPredicate::OGT, z, steps.constant(0.0));
  return {steps.select(isPositive, p, q), steps.times(p, q)};
}

const ScalarRule *resid::findScalarRule(Operation *op) {
  static const ScalarRules rules = [] {
    ScalarRules made;
    addArithRules(made);
    addMathRules(made);
    return made;
  }();
  auto found = rules.find(op->getName().getTypeID());
  return found == rules.end() ? nullptr : &found->second;
}

/// The operand that an extremum takes has the gradient; where both are equal each has half of it, and an operand that
/// equals a constant bound has none. Of all subgradients that is the one of the least norm.
template <typename OpT> static void addExtremumRule(ScalarRules &rules, arith::CmpFPredicate isTaken, bool skipsNaN) {
  addScalarRule<OpT>(rules, [=](OpT op, ScalarGradient &g) {
    for (auto [operand, other] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())})
      g.add(operand, [&, operand = operand, other = other] {
        Value a = g.get(operand), b = g.get(other);
        Value taken = g.compare(isTaken, a, b);
        if (skipsNaN)
          taken = arith::OrIOp::create(g.getBuilder(), taken, g.compare(arith::CmpFPredicate::UNO, b, b));
        Value share = g.select(taken, g.getResult(), g.constant(0.0));
        if (matchPattern(other, m_Constant()))
          return share;
        Value equal = g.compare(arith::CmpFPredicate::OEQ, a, b);
        return g.select(equal, g.times(g.constant(0.5), g.getResult()), share);
      });
  });
}

/// z where a value is 1 + exp(z), else null.
static Value matchOnePlusExponential(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return {};
  for (auto [one, power] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
    if (auto exponential = power.getDefiningOp<math::ExpOp>(); exponential && matchPattern(one, m_OneFloat()))
      return exponential.getOperand();
  return {};
}

/// Of a quotient a/b. Where b is 1 + exp(z), the quotient is a·σ(-z), and z takes the gradient: exp(z) may be infinite.
static void addQuotientRule(ScalarRules &rules) {
  addScalarRule<arith::DivFOp>(rules, [](arith::DivFOp op, ScalarGradient &g) {
    g.add(op.getLhs(), [&] { return g.over(g.getResult(), g.get(op.getRhs())); });
    if (Value z = matchOnePlusExponential(op.getRhs()))
      g.add(z, [&] {
        Value slope = createSigmoid(g, g.get(z)).derivative;
        if (!matchPattern(op.getLhs(), m_OneFloat()))
          slope = g.times(g.get(op.getLhs()), slope);
        return g.negate(g.times(g.getResult(), slope));
      });
    else
      g.add(op.getRhs(),
            [&] { return g.negate(g.times(g.getResult(), g.over(g.get(op.getResult()), g.get(op.getRhs())))); });
  });
}

static void addArithmeticRules(ScalarRules &rules) {
  addScalarRule<arith::AddFOp>(rules, [](arith::AddFOp op, ScalarGradient &g) {
    g.add(op.getLhs(), [&] { return g.getResult(); });
    g.add(op.getRhs(), [&] { return g.getResult(); });
  });
  addScalarRule<arith::SubFOp>(rules, [](arith::SubFOp op, ScalarGradient &g) {
    g.add(op.getLhs(), [&] { return g.getResult(); });
    g.add(op.getRhs(), [&] { return g.negate(g.getResult()); });
  });
  addScalarRule<arith::MulFOp>(rules, [](arith::MulFOp op, ScalarGradient &g) {
    g.add(op.getLhs(), [&] { return g.times(g.getResult(), g.get(op.getRhs())); });
    g.add(op.getRhs(), [&] { return g.times(g.getResult(), g.get(op.getLhs())); });
  });
  addQuotientRule(rules);
  addScalarRule<arith::RemFOp>(rules, [](arith::RemFOp op, ScalarGradient &g) {
    g.add(op.getLhs(), [&] { return g.getResult(); });
    g.add(op.getRhs(), [&] {
      // How often the divisor went in: a whole number, so the division finds it.
      Value taken = g.over(g.minus(g.get(op.getLhs()), g.get(op.getResult())), g.get(op.getRhs()));
      return g.negate(g.times(g.getResult(), taken));
    });
  });
  addScalarRule<arith::NegFOp>(rules, [](arith::NegFOp op, ScalarGradient &g) {
    g.add(op.getOperand(), [&] { return g.negate(g.getResult()); });
  });
}

static void addChoiceRules(ScalarRules &rules) {
  addExtremumRule<arith::MaximumFOp>(rules, arith::CmpFPredicate::UGT, false);
  addExtremumRule<arith::MinimumFOp>(rules, arith::CmpFPredicate::ULT, false);
  addExtremumRule<arith::MaxNumFOp>(rules, arith::CmpFPredicate::OGT, true);
  addExtremumRule<arith::MinNumFOp>(rules, arith::CmpFPredicate::OLT, true);
  addScalarRule<arith::SelectOp>(rules, [](arith::SelectOp op, ScalarGradient &g) {
    g.add(op.getTrueValue(), [&] { return g.select(g.getInteger(op.getCondition()), g.getResult(), g.constant(0.0)); });
    g.add(op.getFalseValue(),
          [&] { return g.select(g.getInteger(op.getCondition()), g.constant(0.0), g.getResult()); });
  });
}

void resid::addArithRules(ScalarRules &rules) {
  addArithmeticRules(rules);
  addChoiceRules(rules);
  // Both change the type alone; the gradient is converted where it is added.
  addScalarRule<arith::ExtFOp>(
      rules, [](arith::ExtFOp op, ScalarGradient &g) { g.add(op.getIn(), [&] { return g.getResult(); }); });
  addScalarRule<arith::TruncFOp>(
      rules, [](arith::TruncFOp op, ScalarGradient &g) { g.add(op.getIn(), [&] { return g.getResult(); }); });
}
