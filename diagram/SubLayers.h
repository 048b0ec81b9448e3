// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One residual add, as a block or as flat ops, to the parts it is drawn with. Knows one op at a time, no streams.

#ifndef RESID_DIAGRAM_SUBLAYERS_H
#define RESID_DIAGRAM_SUBLAYERS_H

#include "diagram/Stream.h"
#include "dialect/ResidDialect.h"

namespace mlir::resid::diagram {

/// A flat norm. Null if `op` is none.
std::optional<Part> readNorm(Operation *op);

/// A block: norms where its placement's rule says.
SubLayer readSubLayer(BlockOp block);

/// A residual add whose stream is `stream`, the other operand being the branch. The ops between the two are added to
/// `branchOps`.
SubLayer readSubLayer(AddOp add, Value stream, llvm::SetVector<Operation *> &branchOps);

} // namespace mlir::resid::diagram

#endif // RESID_DIAGRAM_SUBLAYERS_H
