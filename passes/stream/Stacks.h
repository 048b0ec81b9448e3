// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the stacks of a function: which blocks follow each other on one residual stream, and who else reads it. Looks
// at the program only. Flat ops are not seen as sub-layers; resid-form-blocks makes blocks of them.

#ifndef RESID_PASSES_STREAM_STACKS_H
#define RESID_PASSES_STREAM_STACKS_H

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::resid {

/// Blocks on one stream: each reads what the one before it hands out, directly or as the value that a loop carries.
/// Where two blocks or loops read one value of the stream, the stream forks: a stack ends there and others begin.
struct Stack {
  /// In the order of the stream, at least one; those of a loop's body stand here once.
  SmallVector<BlockOp> blocks;
  /// The loops that carry the stream from before their first to after their last iteration, in the order of the stream,
  /// outer ones first. Every block in such a loop runs once per iteration.
  SmallVector<scf::ForOp> loops;
  /// The stream before the first block, and before the loops around it.
  Value entry;
  /// The stream after the last block, and after the loops around it.
  Value exit;
  /// The norm op that makes `entry`, if the stack is all that reads its results, it keeps the type, and it lies in the
  /// block where the stack begins: an embedding's norm. The norm of another stack's exit is none.
  Operation *entryNorm = nullptr;
  /// On several streams, the one read of `exit` beside it: what makes one row of them.
  ReadOp head;
  /// The norm op that normalises what getEnd says, if nothing else reads that.
  Operation *finalNorm = nullptr;
  /// Readers of the stream after its first block and before `exit` that are no part of the stack: an auxiliary head, a
  /// branch that captures the stream. Ops that ask for a size only are no readers.
  SmallVector<OpOperand *> taps;

  /// What a final norm normalises: what the head reads, or else `exit`.
  Value getEnd() const { return head ? ReadOp(head).getResult() : exit; }
  /// Whether the stack is on several streams: one of its blocks has that clause.
  bool isOnStreams() const;
};

/// The stacks of a function in the order of their first blocks, those inside of branches included.
SmallVector<Stack> findStacks(func::FuncOp function);

/// The readers of a value, without those that ask for a size only.
SmallVector<OpOperand *> getReaders(Value value);

} // namespace mlir::resid

#endif // RESID_PASSES_STREAM_STACKS_H
