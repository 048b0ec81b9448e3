// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/stream/BranchSlice.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::resid;

bool resid::readsSizesOnly(OpOperand &use) {
  Operation *owner = use.getOwner();
  if (isa<tensor::DimOp>(owner))
    return use.getOperandNumber() == 0;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(owner);
  return linalgOp && linalgOp.isDpsInit(&use) && !linalgOp.payloadUsesValueFromOperand(&use);
}

void resid::forEachRead(Operation *op, function_ref<void(OpOperand &)> visit) {
  op->walk([&](Operation *nested) {
    for (OpOperand &operand : nested->getOpOperands())
      if (!op->isAncestor(operand.get().getParentRegion()->getParentOp()))
        visit(operand);
  });
}

/// Whether `op` could depend on `stream` at all: it stands after the stream's definition.
static bool mayDependOn(Operation *op, Value stream) {
  Operation *definition = stream.getDefiningOp();
  return !definition || definition->getBlock() != op->getBlock() || definition->isBeforeInBlock(op);
}

/// The ops of `block` after the definition of `stream` that `output` is computed from, in the order of the program.
static SmallVector<Operation *> getProducers(Block *block, Value stream, Value output) {
  llvm::SetVector<Operation *> producers;
  auto add = [&](Value value) {
    Operation *definition = value.getDefiningOp();
    if (value != stream && definition && definition->getBlock() == block && mayDependOn(definition, stream))
      producers.insert(definition);
  };
  add(output);
  for (size_t i = 0; i < producers.size(); ++i)
    forEachRead(producers[i], [&](OpOperand &operand) { add(operand.get()); });
  SmallVector<Operation *> sorted = producers.takeVector();
  llvm::sort(sorted, [](Operation *first, Operation *second) { return first->isBeforeInBlock(second); });
  return sorted;
}

BranchSlice resid::findBranchSlice(Block *block, Value stream, Value output) {
  BranchSlice slice;
  llvm::DenseSet<Operation *> elementOps, sizeOps; // by what of the stream they depend on
  for (Operation *op : getProducers(block, stream, output)) {
    bool needsElements = false, needsSizes = false, readsStream = false, readsSlice = false;
    forEachRead(op, [&](OpOperand &operand) {
      Operation *definition = operand.get().getDefiningOp();
      bool isStream = operand.get() == stream, sizesOnly = readsSizesOnly(operand);
      bool isElements = isStream || elementOps.contains(definition);
      needsElements |= isElements && !sizesOnly;
      needsSizes |= isElements || sizeOps.contains(definition) || slice.ops.contains(definition);
      readsStream |= isStream && !sizesOnly;
      readsSlice |= slice.ops.contains(definition);
    });
    if (needsElements)
      elementOps.insert(op);
    else if (needsSizes)
      sizeOps.insert(op);
    // Sizes of a value inside are known inside only.
    if (needsElements || readsSlice)
      slice.ops.insert(op);
    else if (needsSizes)
      slice.sizeOps.push_back(op);
    if (readsStream)
      slice.readers.push_back(op);
  }
  slice.isDependent = output == stream || elementOps.contains(output.getDefiningOp());
  return slice;
}

SmallVector<Operation *> resid::findOwnOps(ArrayRef<Operation *> candidates, ArrayRef<Operation *> ops) {
  llvm::DenseSet<Operation *> inside(ops.begin(), ops.end());
  SmallVector<Operation *> own;
  for (Operation *op : llvm::reverse(candidates)) {
    bool isOwn = isMemoryEffectFree(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
                   return inside.contains(op->getBlock()->findAncestorOpInBlock(*user));
                 });
    if (!isOwn)
      continue;
    inside.insert(op);
    own.push_back(op);
  }
  std::reverse(own.begin(), own.end());
  return own;
}

bool resid::isComputedFrom(Value value, Value stream) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == stream)
      return true;
    if (Operation *definition = values[i].getDefiningOp(); definition && mayDependOn(definition, stream))
      forEachRead(definition, [&](OpOperand &operand) {
        if (!readsSizesOnly(operand))
          values.insert(operand.get());
      });
  }
  return false;
}
