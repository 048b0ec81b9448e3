// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms where they stand, as ops or in blocks, for rewrites that change their parameters and leave them where they are.

#ifndef RESID_PASSES_STREAM_NORMSITES_H
#define RESID_PASSES_STREAM_NORMSITES_H

#include "passes/stream/NormParts.h"

namespace mlir::resid {

struct NormSite {
  Operation *op;
  /// Which of the block's norms it is; 0 for an op.
  size_t index;
  NormParts parts;
};

/// The norm ops in `root` and the norms of its blocks, in the order of the program.
SmallVector<NormSite> collectNormSites(Operation *root);

/// The norm of `block` that stands at `position`, if its placement has one there.
std::optional<NormSite> getNormSiteAt(BlockOp block, NormPosition position);

/// The norm that normalises what `use` reads before anything else does with it: a norm op of its operand, or a block
/// whose stream starts with a norm.
std::optional<NormSite> getNormSiteOf(OpOperand &use);

/// Gives a norm other parts than it has; x, rank and normalised value are the same. An op is replaced by another;
/// where the kind changes that has no statistics, and nobody may read those of the old one.
void replaceNorm(NormSite &site, const NormParts &parts);

} // namespace mlir::resid

#endif // RESID_PASSES_STREAM_NORMSITES_H
