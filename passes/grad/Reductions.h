// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which reductions have a gradient, and that of maxima and minima.

#ifndef RESID_PASSES_GRAD_REDUCTIONS_H
#define RESID_PASSES_GRAD_REDUCTIONS_H

#include "passes/grad/BodyGradient.h"

namespace mlir::resid {

/// result = init ∘ term ∘ term …, where ∘ is a sum, a maximum or a minimum.
struct Reduction {
  OpResult result;
  OpOperand *init;
  /// The value of the body that each point of the loops adds.
  Value term;
  bool isSum;
};

/// How a result is reduced. An error where it is done in another way.
FailureOr<Reduction> matchReduction(linalg::GenericOp op, unsigned result);

/// The gradient of a maximum or minimum goes to the terms that equal it, in equal parts; one of them is the init where
/// its gradient is needed.
void addExtremum(linalg::GenericOp op, const Reduction &reduction, Gradients &gradients, BodyBuilder &body,
                 BodyGradient &bodyGradient);

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_REDUCTIONS_H
