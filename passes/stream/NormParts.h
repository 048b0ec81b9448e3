// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How passes put norms into a block. What a norm is, and how to make one, stands in dialect/NormKinds.h. Knows nothing
// of chains and stacks.

#ifndef RESID_PASSES_STREAM_NORMPARTS_H
#define RESID_PASSES_STREAM_NORMPARTS_H

#include "dialect/Placement.h"

namespace mlir::resid {

/// Gives `block` another placement and the norms of that, in order. Where no norm stands right before the branch any
/// more, an input narrower than the stream is made by arith.truncf. narrow_affine holds for the whole block: norms with
/// a gamma agree on it.
void setNorms(BlockOp block, Placement placement, ArrayRef<NormParts> norms);

} // namespace mlir::resid

#endif // RESID_PASSES_STREAM_NORMPARTS_H
