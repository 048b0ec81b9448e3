// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stacks: values of a loop's body for all iterations, in tensors with one more dimension in front. Iterations are
// counted from 0 in slots.

#ifndef RESID_PASSES_GRAD_LOOPSTACKS_H
#define RESID_PASSES_GRAD_LOOPSTACKS_H

#include "passes/grad/LoopForm.h"

namespace mlir::resid {

/// The sizes of a value of the body where the loop begins; none where they show only inside. A number has no sizes.
std::optional<SmallVector<OpFoldResult>> findSizes(OpBuilder &builder, scf::ForOp loop, Value value);

/// Gives the loop a stack for each value, after its results, and notes that in `forward`. The loop becomes another op.
void addStacks(scf::ForOp loop, const LoopBounds &bounds, ArrayRef<Value> values, Forward &forward);

/// The value, of `type`, in a slot.
Value takeFromStack(ImplicitLocOpBuilder &builder, Type type, Value stack, Value slot);

/// index·factor + term.
Value scaleIndex(ImplicitLocOpBuilder &builder, Value index, int64_t factor, int64_t term);

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_LOOPSTACKS_H
