// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/WrittenRows.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

/// The loads from and stores to a row in the order of the program.
static SmallVector<Operation *> getAccesses(KernelOp kernel, Value row) {
  SmallVector<Operation *> accesses;
  kernel.getBody().walk([&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    if ((load && load.getRow() == row) || (store && store.getRow() == row))
      accesses.push_back(op);
  });
  return accesses;
}

static WrittenRow readRow(KernelOp kernel, unsigned operand) {
  WrittenRow written;
  written.operand = operand;
  written.row = kernel.getRowArgument(operand);
  SmallVector<Operation *> accesses = getAccesses(kernel, written.row);
  for (Operation *access : llvm::reverse(accesses)) {
    auto store = dyn_cast<StoreOp>(access);
    if (!store) {
      written.isRead = true;
      continue;
    }
    written.isAlways &= store->getParentOfType<PhaseOp>()->getParentOp() == kernel;
    if (written.isRead)
      written.readLater.push_back(store);
    if (!written.last)
      written.last = store;
  }
  return written;
}

SmallVector<WrittenRow> rows::findWrittenRows(KernelOp kernel) {
  SmallVector<WrittenRow> rows;
  unsigned inputs = kernel.getInputs().size();
  for (unsigned operand = inputs; operand < inputs + kernel.getInits().size(); ++operand)
    if (kernel.isAlongColumns(operand))
      rows.push_back(readRow(kernel, operand));
  return rows;
}
