// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of scalar ops, which bodies of structured ops are made of: one rule for each op of arith and math.
// Knows no tensors.

#ifndef RESID_PASSES_GRAD_SCALARRULES_H
#define RESID_PASSES_GRAD_SCALARRULES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace mlir::resid {

/// Arithmetic on numbers of one type.
class Numbers {
public:
  Numbers(ImplicitLocOpBuilder &builder, FloatType type) : builder(builder), type(type) {}

  ImplicitLocOpBuilder &getBuilder() const { return builder; }
  FloatType getType() const { return type; }
  Value constant(double value) const;
  Value plus(Value a, Value b) const { return arith::AddFOp::create(builder, a, b); }
  Value minus(Value a, Value b) const { return arith::SubFOp::create(builder, a, b); }
  Value times(Value a, Value b) const { return arith::MulFOp::create(builder, a, b); }
  Value over(Value a, Value b) const { return arith::DivFOp::create(builder, a, b); }
  Value negate(Value a) const { return arith::NegFOp::create(builder, a); }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) const;
  Value select(Value condition, Value a, Value b) const { return arith::SelectOp::create(builder, condition, a, b); }

protected:
  ImplicitLocOpBuilder &builder;
  FloatType type;
};

/// A function at one number, and its derivative there. What nothing reads is not computed.
struct Point {
  Value value, derivative;
};

/// σ(z) = 1/(1 + exp(-z)) and σ'(z), finite for every z that is a number.
Point createSigmoid(const Numbers &steps, Value z);

/// What the rule of a scalar op works with. All that it makes is in the arithmetic type of the op's result.
class ScalarGradient : public Numbers {
public:
  using GetPrimal = function_ref<Value(Value)>;
  using AddTerm = function_ref<void(Value, function_ref<Value()>)>;

  ScalarGradient(ImplicitLocOpBuilder &builder, Value dy, GetPrimal getPrimal, AddTerm addTerm)
      : Numbers(builder, cast<FloatType>(dy.getType())), dy(dy), getPrimal(getPrimal), addTerm(addTerm) {}

  /// The gradient of the result.
  Value getResult() const { return dy; }
  /// An operand or the result of the op, as the forward computed it, in the arithmetic type.
  Value get(Value value);
  /// An integer or a condition that the forward computed.
  Value getInteger(Value value) { return getPrimal(value); }
  /// Adds to the gradient of an operand. `term` runs only if that is needed: what it reads of the forward is saved.
  void add(Value operand, function_ref<Value()> term) { addTerm(operand, term); }

private:
  Value dy;
  GetPrimal getPrimal;
  AddTerm addTerm;
};

using ScalarRule = std::function<void(Operation *, ScalarGradient &)>;
using ScalarRules = llvm::DenseMap<TypeID, ScalarRule>;

/// The rule of an op; null where it has none.
const ScalarRule *findScalarRule(Operation *op);

/// The rules of one dialect each.
void addArithRules(ScalarRules &rules);
void addMathRules(ScalarRules &rules);

/// Adds the rule of one op: `rule` takes the op and a ScalarGradient.
template <typename OpT, typename Function> void addScalarRule(ScalarRules &rules, Function rule) {
  rules[TypeID::get<OpT>()] = [rule](Operation *op, ScalarGradient &gradient) { rule(cast<OpT>(op), gradient); };
}

/// A number or tensor of floats as `type`: widened, rounded or as it is.
Value convertElements(ImplicitLocOpBuilder &builder, Value value, Type type);

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_SCALARRULES_H
