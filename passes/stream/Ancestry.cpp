// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/stream/Ancestry.h"

#include "passes/stream/BranchSlice.h"

using namespace mlir;
using namespace mlir::resid;

Ancestry resid::findAncestry(Value value) {
  Ancestry ancestry;
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op)
      ancestry.arguments.insert(next);
    if (!op || !ancestry.ops.insert(op))
      continue;
    forEachRead(op, [&](OpOperand &operand) {
      if (!readsSizesOnly(operand))
        pending.push_back(operand.get());
    });
  }
  return ancestry;
}
