// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of the ops of one block, of a function or of a loop. `sources` are the values whose gradients are asked
// for: arguments of the block, and what it reads from outside.

#ifndef RESID_PASSES_GRAD_BLOCKRULES_H
#define RESID_PASSES_GRAD_BLOCKRULES_H

#include "passes/grad/Gradients.h"

namespace mlir::resid {

/// Ops between a source and a result of the block get a form that has a rule. An error at each of the others.
LogicalResult verifyBlock(Block &block, ArrayRef<Value> sources);

/// Makes these ops give what their rules read.
LogicalResult prepareBlock(Block &block, ArrayRef<Value> sources, Forward &forward);

/// Runs the rules from the last op to the first. What the terminator reads has its gradients already.
LogicalResult differentiateBlock(Block &block, ArrayRef<Value> sources, Gradients &gradients);

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_BLOCKRULES_H
