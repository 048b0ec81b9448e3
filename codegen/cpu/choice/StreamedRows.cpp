// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds last stores and rows that are read back.

#include "codegen/cpu/choice/StreamedRows.h"

#include "codegen/cpu/choice/LocalRows.h"
#include "codegen/kernels/StackBudget.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/SumOrder.h"
#include "codegen/rows/WrittenRows.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

std::optional<int64_t> cpu::getStaticWidth(rows::KernelOp kernel) {
  int64_t width = 1;
  for (Value size : kernel.getColumnDims()) {
    APInt value;
    if (!matchPattern(size, m_ConstantInt(&value)))
      return std::nullopt;
    width *= value.getSExtValue();
  }
  return width;
}

/// What scratch rows may use of their share of the stack: the more rows a kernel has, the more of their registers are
/// on the stack as well. A step of each row is, where a kernel has 40 results in f32, and no more.
static int64_t getScratchRoom(rows::KernelOp kernel) {
  int64_t room = kernels::kScratchRowStackBytes, inputs = kernel.getInputs().size();
  for (int64_t operand = 0, end = inputs + kernel.getInits().size(); operand < end; ++operand) {
    if (!kernel.isAlongColumns(operand))
      continue;
    Type element = cast<rows::RowType>(kernel.getRowArgument(operand).getType()).getElementType();
    room -=
        rows::kLanes * std::max<int64_t>(kernels::getElementBytes(element), 4); // narrower floats are computed with as f32
    if (operand >= inputs)
      room -= kLineWriterBytes;
  }
  return std::max<int64_t>(room, 0);
}

static int64_t getColumnBytes(ArrayRef<BlockArgument> rows) {
  int64_t bytes = 0;
  for (BlockArgument row : rows)
    bytes += kernels::getElementBytes(cast<rows::RowType>(row.getType()).getElementType());
  return bytes;
}

void StreamedRows::layOut(int64_t room, std::optional<int64_t> width, int64_t columnsOfBatch) {
  int64_t keptBytes = getColumnBytes(kept), allBytes = keptBytes + getColumnBytes(staged);
  auto getCapacity = [=](int64_t bytes) { return bytes ? room / bytes / rows::kLanes * rows::kLanes : 0; };
  capacity = getCapacity(keptBytes);
  stagedCapacity = getCapacity(allBytes);
  scratchBytes = std::max(capacity * keptBytes, stagedCapacity * allBytes);
  batchColumns = std::min(columnsOfBatch, stagedCapacity);
  if (!width)
    return;
  int64_t padded = llvm::alignTo(*width, rows::kLanes);
  int64_t moreRows = padded ? std::max<int64_t>(batchColumns / padded, 1) - 1 : 0;
  stagedCapacity = padded <= stagedCapacity ? padded : 0;
  capacity = std::min(padded, capacity);
  scratchBytes = stagedCapacity ? padded * (allBytes + moreRows * keptBytes) : padded * keptBytes;
}

std::optional<StreamedRows> StreamedRows::plan(rows::KernelOp kernel, const ScheduleTable &table) {
  StreamedRows plan;
  for (const rows::WrittenRow &written : rows::findWrittenRows(kernel)) {
    if (!written.isAlways)
      return std::nullopt;
    plan.readLater.insert_range(written.readLater);
    if (written.last) {
      plan.last.insert(written.last);
      plan.operands.push_back(written.operand);
    }
    if (written.isRead)
      plan.kept.push_back(written.row);
    else if (written.last)
      plan.staged.push_back(written.row);
  }
  if (plan.operands.empty())
    return std::nullopt;
  std::optional<int64_t> width = getStaticWidth(kernel);
  // Local rows are on the stack too, and so is a step of each.
  int64_t local = getLocalStackBytes(kernel, table) + rows::kLanes * getLocalColumnBytes(kernel);
  int64_t room = std::max<int64_t>(getScratchRoom(kernel) - local, 0);
  plan.layOut(room, width, limitBatchColumns(kernel, table, table.batchColumns));
  if (width && !plan.kept.empty() && *width > plan.capacity)
    return std::nullopt;
  return plan;
}
