// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions that compare the places of queries and keys.

#ifndef RESID_PASSES_RAISE_CAUSALMASK_H
#define RESID_PASSES_RAISE_CAUSALMASK_H

#include "passes/raise/Softmax.h"

namespace mlir::resid {

/// Whether the condition says that the key, whose place is the last of `rank` ones, is not after the query.
bool isCausal(const MaskCondition &condition, unsigned queries, unsigned rank);

/// The integer constant that the node is.
std::optional<int64_t> getInteger(const ElementNode *node);

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_CAUSALMASK_H
