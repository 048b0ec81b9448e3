// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What resid.add, resid.add_norm and resid.block have in common as sums of a stream and a branch.

#ifndef RESID_PASSES_STREAM_SUMS_H
#define RESID_PASSES_STREAM_SUMS_H

#include "dialect/AddParts.h"

namespace mlir::resid {

/// In y = x + f, and only there, the operands may change places without changing a bit.
template <typename SumOp> bool commutes(SumOp op) { return getAddParts(op).isPlain(); }

/// Calls `visit` with every resid.add and resid.block in `root`, a block before what is in its branch. They are
/// collected first, so `visit` may replace ops around them.
template <typename Visitor> void forEachSum(Operation *root, Visitor visit) {
  SmallVector<Operation *> sums;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<AddOp, BlockOp>(op))
      sums.push_back(op);
  });
  for (Operation *op : sums)
    if (auto add = dyn_cast<AddOp>(op))
      visit(add);
    else
      visit(cast<BlockOp>(op));
}

} // namespace mlir::resid

#endif // RESID_PASSES_STREAM_SUMS_H
