// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form in which linalg, and arith and math on tensors, have rules: linalg.generic.

#ifndef RESID_PASSES_GRAD_STRUCTUREDFORM_H
#define RESID_PASSES_GRAD_STRUCTUREDFORM_H

#include "mlir/IR/Operation.h"

namespace mlir::resid {

/// Writes those of the ops that have no rule as linalg.generic, if they have such a form. No bit changes.
void formGenericOps(ArrayRef<Operation *> ops);

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_STRUCTUREDFORM_H
