// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions that compare the places of queries and keys.

#ifndef RESID_PASSES_RAISE_CAUSALMASK_H
#define RESID_PASSES_RAISE_CAUSALMASK_H

#include "passes/raise/Softmax.h"

namespace mlir::resid {

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

#endif // RESID_PASSES_RAISE_CAUSALMASK_H
