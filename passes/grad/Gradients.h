// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a rule works with: the values of the forward, and the gradients so far. A null gradient is zero, and never a
// tensor of zeros. Does not own the order of the ops, nor functions (Grad.cpp).

#ifndef RESID_PASSES_GRAD_GRADIENTS_H
#define RESID_PASSES_GRAD_GRADIENTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Value.h"
#include "passes/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <functional>

namespace mlir::resid {

/// What is known of the function that is differentiated, beside its text.
struct Forward {
  explicit Forward(GradSave save) : save(save) {}

  bool isStack(Value result) const { return llvm::is_contained(llvm::make_second_range(stacks), result); }

  GradSave save;
  /// Of a value in a loop, the result of the loop that has it for every iteration.
  DenseMap<Value, Value> stacks;
};

/// The sum of two gradients of one value.
Value createGradientSum(ImplicitLocOpBuilder &builder, Value a, Value b);

class Gradients {
public:
  /// What gives a value of the forward where the backward stands; it is saved if need be.
  using GetSaved = std::function<Value(Value)>;

  /// `needed` are the values whose gradients are asked for, or lead to one that is. Values of outside of `region` are
  /// the matter of `getSaved` alone.
  Gradients(OpBuilder builder, const DenseSet<Value> &needed, Region &region, GetSaved getSaved, const Forward &forward)
      : builder(UnknownLoc::get(builder.getContext()), builder), needed(needed), region(region),
        getSaved(std::move(getSaved)), forward(forward) {}

  /// At the place of the backward, with the location of the op whose rule is running.
  ImplicitLocOpBuilder &getBuilder() { return builder; }

  /// A value of the forward in the backward. Null stays null.
  Value getPrimal(Value value);
  /// Whether the gradient of an operand is of use. Null is not.
  bool isNeeded(Value value) const { return value && needed.contains(value); }
  /// The gradient of a value by its readers so far; null where it is zero.
  Value get(Value value) const { return gradients.lookup(value); }
  /// The same, for a rule that adds to it by itself: then it is zero again.
  Value take(Value value);
  /// Adds to the gradient of a value if that is needed. Both have one type; null adds nothing.
  void add(Value value, Value gradient);

  /// Computes a value of the forward again, whatever it costs.
  Value clone(OpResult value);
  const DenseSet<Value> &getNeeded() const { return needed; }
  const Forward &getForward() const { return forward; }

private:
  Value recompute(OpResult value);
  Value getPrimalOperand(Value operand);

  ImplicitLocOpBuilder builder;
  const DenseSet<Value> &needed;
  Region &region;
  GetSaved getSaved;
  const Forward &forward;
  DenseMap<Value, Value> primals, gradients;
};

} // namespace mlir::resid

#include "passes/grad/GradientInterface.h.inc"

#endif // RESID_PASSES_GRAD_GRADIENTS_H
