// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lookups in bodies of linalg: rows of a table that ids name.

#ifndef RESID_PASSES_GRAD_LOOKUPFORM_H
#define RESID_PASSES_GRAD_LOOKUPFORM_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::resid {

/// Takes lookups whose table is in `needed` out of the bodies of the ops, as resid.embedding, whose gradient is known.
/// No bit changes.
void formEmbeddings(ArrayRef<Operation *> ops, const DenseSet<Value> &needed);

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_LOOKUPFORM_H
