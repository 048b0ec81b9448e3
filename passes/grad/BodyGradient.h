// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reverse mode on the body of a structured op: what the body of its backward recomputes, and the gradients of the
// elements that it reads. Knows nothing of results, nor of sums over loops (LinalgRules.cpp).

#ifndef RESID_PASSES_GRAD_BODYGRADIENT_H
#define RESID_PASSES_GRAD_BODYGRADIENT_H

#include "passes/grad/BodyBuilder.h"
#include "passes/grad/Gradients.h"

namespace mlir::resid {

class BodyGradient {
public:
  /// The body is written into `body`, whose loops are those of `op`.
  BodyGradient(linalg::GenericOp op, Gradients &gradients, BodyBuilder &body);

  /// A value of the forward's body, computed again.
  Value getPrimal(Value value);
  /// Adds to the gradient of a value of the body, in any float type. Null adds nothing.
  void add(Value value, Value gradient);
  /// Takes the gradients that values have to all that they are made of, by the rules of the ops.
  LogicalResult run();
  /// The gradient of a value of the body, in its arithmetic type; null where it is zero or not needed.
  Value get(Value value) const { return adjoints.lookup(value); }

private:
  LogicalResult verifyBits() const;
  Value recompute(Operation *op, Value value);

  mutable linalg::GenericOp op;
  Gradients &gradients;
  BodyBuilder &body;
  /// The values of the body that an operand reaches whose gradient is needed.
  DenseSet<Value> needed;
  DenseMap<Value, Value> primals, adjoints;
};

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_BODYGRADIENT_H
