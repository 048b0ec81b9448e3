// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules that follow from docs/measurements/schedule.md.

#include "codegen/cpu/choice/RowOrderChoice.h"

#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/SumOrder.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

/// Columns of f32 in a cache line.
static constexpr int64_t kColumnsOfLine = 16;

static bool hasNarrowRows(rows::KernelOp kernel) {
  return llvm::any_of(kernel.getBody().getArguments(), [](BlockArgument argument) {
    auto row = dyn_cast<rows::RowType>(argument.getType());
    return row && row.getElementType().getIntOrFloatBitWidth() < 32;
  });
}

static bool drawsNumbers(rows::KernelOp kernel) {
  return kernel.walk([](rows::RandomHalfOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Bytes of a column that each row has by itself, of the operands before `end`.
static int64_t countColumnBytes(rows::KernelOp kernel, int64_t end) {
  int64_t bytes = 0;
  for (int64_t operand = 0; operand < end; ++operand) {
    AffineMap map = kernel.getIndexingMap(operand);
    auto isOf = [&](unsigned dim) { return map.isFunctionOfDim(dim); };
    if (!kernel.isAlongColumns(operand) || llvm::none_of(llvm::seq<unsigned>(0, kernel.getRowDims().size()), isOf))
      continue;
    Type element = cast<rows::RowType>(kernel.getRowArgument(operand).getType()).getElementType();
    bytes += kernels::getElementBytes(element);
  }
  return bytes;
}

static int64_t countInputBytes(rows::KernelOp kernel, int64_t width) {
  return width * countColumnBytes(kernel, kernel.getInputs().size());
}

int64_t cpu::chooseCachedBatchColumns(rows::KernelOp kernel, const ScheduleTable &table) {
  int64_t bytes = countColumnBytes(kernel, kernel.getInputs().size() + kernel.getInits().size());
  int64_t columns = bytes ? table.batchBytes / bytes / rows::kLanes * rows::kLanes : 0;
  return std::max(columns, table.batchColumns);
}

/// Whether pipelined rows are faster than batches of rows of a known width.
static bool beatsBatches(rows::KernelOp kernel, const StreamedRows &streamed, int64_t width,
                         const ScheduleTable &table) {
  return !streamed.getKept().empty() && !hasNarrowRows(kernel) && width % rows::kLanes == 0 &&
         width >= (drawsNumbers(kernel) ? table.drawnBatchedPipelineColumns : table.batchedPipelineColumns);
}

bool cpu::paysToPipeline(rows::KernelOp kernel, const StreamedRows &streamed, bool prefetch, bool isBatched,
                         const ScheduleTable &table) {
  std::optional<int64_t> width = getStaticWidth(kernel);
  if (!prefetch || (drawsNumbers(kernel) && hasNarrowRows(kernel)))
    return false;
  if (width && isBatched)
    return beatsBatches(kernel, streamed, *width, table);
  if (!streamed.getKept().empty())
    return !width || (*width >= table.keptPipelineColumns && (!drawsNumbers(kernel) || *width % kColumnsOfLine == 0));
  return width && *width >= table.rereadPipelineColumns && countInputBytes(kernel, *width) <= table.rereadPipelineBytes;
}

bool cpu::paysToBatch(const CPUTarget &target) { return target.isX86; }

bool cpu::paysToRunAlone(rows::KernelOp kernel) {
  std::optional<int64_t> width = getStaticWidth(kernel);
  return width && *width <= rows::kLanes;
}
