// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Residual connections that are written as sums: a stream, and a branch that is computed from it.

#ifndef RESID_PASSES_RAISE_RESIDUALFORM_H
#define RESID_PASSES_RAISE_RESIDUALFORM_H

#include "passes/raise/ElementExpression.h"

namespace mlir::resid {

struct ResidualForm {
  Value stream;
  /// Of the stream's type, or of a narrower one that the sum widens.
  Value branch;
};

/// The residual connection that the expression is: a sum of two tensors, of which one is computed from the other by a
/// product of matrices. Without a product, a sum may be anything: a part of an activation, say.
std::optional<ResidualForm> matchResidual(const ElementExpression &expression);

/// The form as an op, with the bits of the sum.
Value buildResidual(OpBuilder &builder, Location location, const ResidualForm &form);

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_RESIDUALFORM_H
