// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds last stores and rows that are read back.

#include "codegen/cpu/StreamedRows.h"

#include "codegen/cpu/LaneLoops.h"
#include "codegen/rows/ElementMemory.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

/// The loads from and stores to a row in the order of the program.
static SmallVector<Operation *> getAccesses(rows::KernelOp kernel, Value row) {
  SmallVector<Operation *> accesses;
  kernel.getBody().walk([&](Operation *op) {
    auto load = dyn_cast<rows::LoadOp>(op);
    auto store = dyn_cast<rows::StoreOp>(op);
    if ((load && load.getRow() == row) || (store && store.getRow() == row))
      accesses.push_back(op);
  });
  return accesses;
}

/// The number of columns of a kernel where it is known.
static std::optional<int64_t> getStaticWidth(rows::KernelOp kernel) {
  int64_t width = 1;
  for (Value size : kernel.getColumnDims()) {
    APInt value;
    if (!matchPattern(size, m_ConstantInt(&value)))
      return std::nullopt;
    width *= value.getSExtValue();
  }
  return width;
}

static int64_t getColumnBytes(ArrayRef<BlockArgument> rows) {
  int64_t bytes = 0;
  for (BlockArgument row : rows)
    bytes += rows::getElementBytes(cast<rows::RowType>(row.getType()).getElementType());
  return bytes;
}

void StreamedRows::layOut(std::optional<int64_t> width) {
  int64_t keptBytes = getColumnBytes(kept), allBytes = keptBytes + getColumnBytes(staged);
  auto getRoom = [](int64_t bytes) { return bytes ? kScratchBytes / bytes / kLanes * kLanes : 0; };
  capacity = getRoom(keptBytes);
  stagedCapacity = getRoom(allBytes);
  scratchBytes = std::max(capacity * keptBytes, stagedCapacity * allBytes);
  if (!width)
    return;
  int64_t padded = llvm::alignTo(*width, kLanes);
  stagedCapacity = padded <= stagedCapacity ? padded : 0;
  capacity = std::min(padded, capacity);
  scratchBytes = stagedCapacity ? padded * allBytes : padded * keptBytes;
}

std::optional<StreamedRows> StreamedRows::plan(rows::KernelOp kernel) {
  StreamedRows plan;
  unsigned inputs = kernel.getInputs().size();
  for (unsigned operand = inputs; operand < inputs + kernel.getInits().size(); ++operand) {
    if (!kernel.isAlongColumns(operand))
      continue;
    BlockArgument row = kernel.getRowArgument(operand);
    SmallVector<Operation *> accesses = getAccesses(kernel, row);
    bool isRead = false, isStoredLater = false;
    for (Operation *access : llvm::reverse(accesses)) {
      if (isa<rows::LoadOp>(access)) {
        isRead = true;
        continue;
      }
      if (access->getParentOfType<rows::PhaseOp>()->getParentOp() != kernel)
        return std::nullopt;
      if (isRead)
        plan.readLater.insert(access);
      if (!isStoredLater)
        plan.last.insert(access);
      isStoredLater = true;
    }
    if (isStoredLater)
      plan.operands.push_back(operand);
    if (isRead)
      plan.kept.push_back(row);
    else if (isStoredLater)
      plan.staged.push_back(row);
  }
  if (plan.operands.empty())
    return std::nullopt;
  std::optional<int64_t> width = getStaticWidth(kernel);
  plan.layOut(width);
  if (width && !plan.kept.empty() && *width > plan.capacity)
    return std::nullopt;
  return plan;
}
