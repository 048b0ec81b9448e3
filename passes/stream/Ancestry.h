// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that a value is made of. Looks at the program only; knows nothing of streams. Whether a value is computed
// from another one: BranchSlice.

#ifndef RESID_PASSES_STREAM_ANCESTRY_H
#define RESID_PASSES_STREAM_ANCESTRY_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::resid {

/// What a value is made of, through operands and through what regions read from above, up to arguments of blocks.
/// Values that only their sizes are taken of are left out.
struct Ancestry {
  llvm::SetVector<Operation *> ops;
  /// Arguments of functions, loops and other regions.
  llvm::SetVector<Value> arguments;

  bool contains(Value value) const {
    Operation *op = value.getDefiningOp();
    return op ? ops.contains(op) : arguments.contains(value);
  }
};

Ancestry findAncestry(Value value);

} // namespace mlir::resid

#endif // RESID_PASSES_STREAM_ANCESTRY_H
