// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mask of attention as a tensor.

#ifndef RESID_PASSES_RAISE_ATTENTIONMASK_H
#define RESID_PASSES_RAISE_ATTENTIONMASK_H

#include "passes/raise/ElementExpression.h"

namespace mlir::resid {

/// Whether a tensor of what the node is can be made outside of the ops that compute it.
bool canMakeMask(const ElementNode *node);

/// A tensor of at most four dimensions that broadcasts from the right to what the node is, or is not if `isNegated`.
/// `positions` says which of the four dimensions, of `sizes`, each dimension of the expression is.
Value makeMask(OpBuilder &builder, Location location, const ElementNode *node, bool isNegated,
               ArrayRef<unsigned> positions, ArrayRef<OpFoldResult> sizes);

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_ATTENTIONMASK_H
