// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mask of attention: as a tensor, or as a condition that compares the places of queries and keys.

#ifndef RESID_PASSES_RAISE_ATTENTIONMASK_H
#define RESID_PASSES_RAISE_ATTENTIONMASK_H

#include "passes/raise/Softmax.h"

namespace mlir::resid {

/// Whether a tensor of what the node is can be made outside of the ops that compute it.
bool canMakeMask(const ElementNode *node);

/// A tensor of at most four dimensions that broadcasts from the right to what the node is, or is not if `isNegated`.
/// `positions` says which of the four dimensions, of `sizes`, each dimension of the expression is.
Value makeMask(OpBuilder &builder, Location location, const ElementNode *node, bool isNegated,
               ArrayRef<unsigned> positions, ArrayRef<OpFoldResult> sizes);

/// The key is at most so many places after the query, or before it.
struct PlaceBound {
  bool isAfter;
  int64_t distance;
};

/// What the condition says of the places of the query and of the key, which is the last of `rank` ones. Nothing if it
/// says anything else.
std::optional<PlaceBound> getPlaceBound(const MaskCondition &condition, unsigned queries, unsigned rank);

/// The integer constant that the node is.
std::optional<int64_t> getInteger(const ElementNode *node);

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_ATTENTIONMASK_H
