// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/grad/Activity.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::resid;

bool resid::hasGradient(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

/// What the op reads, in its regions too.
static void visitOperands(Operation &op, function_ref<void(Value)> visit) {
  op.walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (hasGradient(operand.getType()))
        visit(operand);
  });
}

Activity::Activity(Block &block, ArrayRef<Value> arguments) {
  needed.insert(arguments.begin(), arguments.end());
  for (Operation &op : block.without_terminator()) {
    bool isReached = false;
    visitOperands(op, [&](Value operand) { isReached |= needed.contains(operand); });
    for (Value result : op.getResults())
      if (isReached && hasGradient(result.getType()))
        needed.insert(result);
  }
  DenseSet<Value> useful;
  visitOperands(*block.getTerminator(), [&](Value operand) { useful.insert(operand); });
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (llvm::none_of(op.getResults(), [&](Value result) { return useful.contains(result); }))
      continue;
    visitOperands(op, [&](Value operand) { useful.insert(operand); });
    if (llvm::any_of(op.getResults(), [&](Value result) { return needed.contains(result); }))
      ops.push_back(&op);
  }
  std::reverse(ops.begin(), ops.end());
}
