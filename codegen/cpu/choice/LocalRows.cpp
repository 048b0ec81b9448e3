// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/choice/LocalRows.h"

#include "codegen/cpu/choice/StreamedRows.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/SumOrder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

kernels::LocalRowLimits cpu::getLocalRowLimits(const Schedule &schedule) {
  if (schedule.localRows == LocalRowKind::Off)
    return {};
  bool isAuto = schedule.localRows == LocalRowKind::Auto;
  return {schedule.table.localRowBytes, isAuto ? schedule.table.localRowPasses : 1};
}

int64_t cpu::getLocalColumnBytes(rows::KernelOp kernel) {
  int64_t bytes = 0;
  for (auto local : kernel.getBody().front().getOps<rows::LocalRowOp>())
    bytes += kernels::getElementBytes(local.getRow().getType().getElementType());
  return bytes;
}

int64_t cpu::limitBatchColumns(rows::KernelOp kernel, const ScheduleTable &table, int64_t columns) {
  int64_t bytes = getLocalColumnBytes(kernel);
  return bytes ? std::min(columns, table.localRowBytes / bytes) : columns;
}

/// Of a row, in whole chunks.
static int64_t getRowBytes(rows::KernelOp kernel, int64_t width) {
  return static_cast<int64_t>(llvm::alignTo(width, rows::kLanes)) * getLocalColumnBytes(kernel);
}

int64_t cpu::getLocalStackBytes(rows::KernelOp kernel, const ScheduleTable &table) {
  std::optional<int64_t> width = getStaticWidth(kernel);
  return width ? std::max(getRowBytes(kernel, *width),
                          getLocalColumnBytes(kernel) * limitBatchColumns(kernel, table, table.batchColumns))
               : 0;
}

std::optional<std::string> cpu::findLocalRowObstacle(rows::KernelOp kernel, const ScheduleTable &table) {
  if (getLocalColumnBytes(kernel) == 0)
    return std::nullopt;
  std::optional<int64_t> width = getStaticWidth(kernel);
  if (!width)
    return "expected local rows of a known width, but got one that is known at run time only";
  int64_t bytes = *width > table.localRowBytes ? *width : getRowBytes(kernel, *width);
  if (bytes <= table.localRowBytes)
    return std::nullopt;
  return "expected local rows of at most " + std::to_string(table.localRowBytes) + " bytes, but got rows of " +
         std::to_string(*width) + " columns, " + std::to_string(getLocalColumnBytes(kernel)) + " bytes each";
}
