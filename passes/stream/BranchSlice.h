// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a branch is made of: the ops through which a value depends on the residual stream. Looks at the program only,
// and knows nothing of norms and placements.

#ifndef RESID_PASSES_STREAM_BRANCHSLICE_H
#define RESID_PASSES_STREAM_BRANCHSLICE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::resid {

/// The ops of one block between a stream and a value computed from it. An op with regions counts as one, with all that
/// its regions read.
struct BranchSlice {
  /// The ops that need the stream's elements, or a value of such an op, in the order of the program.
  llvm::SetVector<Operation *> ops;
  /// The members of `ops` that read the elements of the stream itself.
  SmallVector<Operation *> readers;
  /// Ops that depend on the stream's sizes alone, such as a tensor.empty, in the order of the program.
  SmallVector<Operation *> sizeOps;
  /// Whether the value is the stream, or computed from its elements.
  bool isDependent = false;
};

/// How `output` depends on `stream` by ops of `block`.
BranchSlice findBranchSlice(Block *block, Value stream, Value output);

/// The members of `candidates` that serve nothing but `ops`. All stand in one block, in the order of the program.
SmallVector<Operation *> findOwnOps(ArrayRef<Operation *> candidates, ArrayRef<Operation *> ops);

/// Whether `value` is computed from `stream`, by whichever ops in whichever blocks. Goes through no loop's carried
/// value.
bool isComputedFrom(Value value, Value stream);

/// Whether `use` needs the sizes of its value only: tensor.dim, or an init of linalg that is overwritten.
bool readsSizesOnly(OpOperand &use);

/// Calls `visit` on every operand of `op`, and of what its regions hold, that is defined outside of `op`.
void forEachRead(Operation *op, llvm::function_ref<void(OpOperand &)> visit);

} // namespace mlir::resid

#endif // RESID_PASSES_STREAM_BRANCHSLICE_H
