// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward walk; see Dependence.h.

#include "passes/Dependence.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::resid;

/// Whether `op`, or the op around it, stands before `source` in the source's block.
static bool standsBefore(Operation *op, Value source) {
  Operation *definition = source ? source.getDefiningOp() : nullptr;
  Operation *ancestor = definition ? definition->getBlock()->findAncestorOpInBlock(*op) : nullptr;
  return ancestor && ancestor != definition && ancestor->isBeforeInBlock(definition);
}

Ancestry resid::findAncestry(Value value, Value source, ValueRange barriers, bool everything) {
  Ancestry ancestry;
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (next == source) {
      ancestry.dependsOnSource = true;
      continue;
    }
    if (llvm::is_contained(barriers, next))
      continue;
    Operation *op = next.getDefiningOp();
    if (!op) {
      ancestry.arguments.insert(next);
      continue;
    }
    if ((!everything && standsBefore(op, source)) || !ancestry.ops.insert(op))
      continue;
    llvm::append_range(pending, op->getOperands());
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::append_range(pending, captured);
  }
  return ancestry;
}

bool resid::dependsOn(Value value, Value source, ValueRange barriers) {
  return findAncestry(value, source, barriers).dependsOnSource;
}
