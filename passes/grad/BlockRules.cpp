// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BlockRules.h.

#include "passes/grad/BlockRules.h"

#include "passes/grad/Activity.h"
#include "passes/grad/LookupForm.h"
#include "passes/grad/StructuredForm.h"

using namespace mlir;
using namespace mlir::resid;

LogicalResult resid::verifyBlock(Block &block, ArrayRef<Value> sources) {
  Activity written(block, sources);
  formEmbeddings(written.ops, written.needed);
  formGenericOps(Activity(block, sources).ops);
  Activity activity(block, sources);
  bool areKnown = true;
  for (Operation *op : activity.ops) {
    auto rule = dyn_cast<GradientOpInterface>(op);
    if (!rule)
      op->emitError("'") << op->getName() << "' has no rule for its gradient, and a result depends on it";
    areKnown &= rule && succeeded(rule.verifyRule(activity.needed));
  }
  return success(areKnown);
}

LogicalResult resid::prepareBlock(Block &block, ArrayRef<Value> sources, Forward &forward) {
  Activity activity(block, sources);
  OpBuilder builder(block.getParentOp()->getContext());
  for (Operation *op : activity.ops) {
    Operation *before = op->getPrevNode(), *after = op->getNextNode();
    if (failed(cast<GradientOpInterface>(op).prepareForward(builder, forward, activity.needed)))
      return failure();
    // The gradient goes through what the op was replaced by.
    for (Operation *made = before ? before->getNextNode() : &block.front(); made != after; made = made->getNextNode())
      activity.needed.insert(made->result_begin(), made->result_end());
  }
  return success();
}

LogicalResult resid::differentiateBlock(Block &block, ArrayRef<Value> sources, Gradients &gradients) {
  Activity activity(block, sources);
  for (Operation *op : llvm::reverse(activity.ops)) {
    if (llvm::none_of(op->getResults(), [&](Value result) { return gradients.get(result); }))
      continue;
    gradients.getBuilder().setLoc(op->getLoc());
    if (failed(cast<GradientOpInterface>(op).differentiate(gradients)))
      return failure();
  }
  return success();
}
