// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choices in order. That of the order of rows is here; each other one belongs to a file of its own. The rules
// follow from docs/measurements/schedule.md.

#include "codegen/cpu/choice/KernelPlan.h"

#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/cpu/choice/LocalRows.h"
#include "codegen/cpu/choice/Obstacles.h"
#include "codegen/cpu/choice/StreamedRows.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/SumOrder.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

/// Columns of f32 in a cache line.
static constexpr int64_t kColumnsOfLine = 16;

/// Of floats, which are widened and rounded.
static bool hasNarrowRows(rows::KernelOp kernel) {
  return llvm::any_of(kernel.getBody().getArguments(), [](BlockArgument argument) {
    auto row = dyn_cast<rows::RowType>(argument.getType());
    return row && isa<FloatType>(row.getElementType()) && row.getElementType().getIntOrFloatBitWidth() < 32;
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
    if (!kernel.isAlongColumns(operand) || kernel.getMove(operand) ||
        llvm::none_of(llvm::seq<unsigned>(0, kernel.getRowDims().size()), isOf))
      continue;
    Type element = cast<rows::RowType>(kernel.getRowArgument(operand).getType()).getElementType();
    bytes += kernels::getElementBytes(element);
  }
  return bytes;
}

static int64_t countInputBytes(rows::KernelOp kernel, int64_t width) {
  return width * countColumnBytes(kernel, kernel.getInputs().size());
}

/// How many columns a batch has in the version that writes through the cache: wider rows are in batches too, as long as
/// the rows of all arrays stay in the first level of the cache.
static int64_t chooseCachedBatchColumns(rows::KernelOp kernel, const ScheduleTable &table) {
  int64_t bytes = countColumnBytes(kernel, kernel.getInputs().size() + kernel.getInits().size());
  int64_t columns = bytes ? table.batchBytes / bytes / rows::kLanes * rows::kLanes : 0;
  return std::max(columns, table.batchColumns);
}

/// Whether pipelined rows are faster than batches of rows of a known width.
static bool beatsBatches(rows::KernelOp kernel, const StreamedRows &streamed, int64_t width,
                         const ScheduleTable &table) {
  bool keepsRow = !streamed.getKept().empty() || getLocalColumnBytes(kernel) != 0;
  return keepsRow && !hasNarrowRows(kernel) && width % rows::kLanes == 0 &&
         width >= (drawsNumbers(kernel) ? table.drawnBatchedPipelineColumns : table.batchedPipelineColumns);
}

/// Whether pipelined rows are faster than single ones, as far as it was measured. `isBatched`: compared with batches
/// instead. `prefetch`: whether the kernel prefetches.
static bool paysToPipeline(rows::KernelOp kernel, const StreamedRows &streamed, bool prefetch, bool isBatched,
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

/// Whether the phases between the first one and the last of pipelined rows fetch the next row, as far as it was
/// measured: where rows of all inputs are short, and no phase waits for random numbers.
static bool fetchesBetween(rows::KernelOp kernel, const ScheduleTable &table) {
  std::optional<int64_t> width = getStaticWidth(kernel);
  auto phases = kernel.getBody().front().getOps<rows::PhaseOp>();
  return width && std::distance(phases.begin(), phases.end()) > 2 && !drawsNumbers(kernel) &&
         countInputBytes(kernel, *width) <= table.betweenPrefetchBytes;
}

/// Whether narrow rows are faster in batches than single, as far as it was measured: on x86-64 with vectors of every
/// width, and on nothing else.
static bool paysToBatch(const CPUTarget &target) { return target.isX86; }

/// Whether a batch of one row is worth code of its own, without the arrays and loops of batches: where a row is known
/// to be one chunk of columns, that code has no loop at all.
static bool paysToRunAlone(rows::KernelOp kernel) {
  std::optional<int64_t> width = getStaticWidth(kernel);
  return width && *width <= rows::kLanes;
}

/// Whether rows of known sizes are never written past the cache (StoreChoice.cpp), since no x86-64 processor has a
/// second level that is smaller.
static bool fitSmallestCache(rows::KernelOp kernel, const StreamedRows &streamed) {
  constexpr int64_t kSmallestSecondBytes = 128 << 10;
  int64_t bytes = 0;
  for (unsigned operand : streamed.getOperands()) {
    auto type = cast<ShapedType>(kernel.getInits()[operand - kernel.getInputs().size()].getType());
    if (!type.hasStaticShape())
      return false;
    bytes += type.getNumElements() * kernels::getElementBytes(type.getElementType());
  }
  return bytes <= kSmallestSecondBytes;
}

KernelPlan cpu::planKernel(rows::KernelOp kernel, const CPUTarget &target) {
  KernelPlan plan;
  plan.path = target.schedule.path;
  if (plan.path == RowPath::Vector)
    if (std::optional<std::string> obstacle = findVectorObstacle(kernel)) {
      plan.obstacle = *obstacle;
      plan.path = RowPath::Scalar;
    }
  if (plan.path == RowPath::Scalar)
    plan.plainReason = "the scalar path has no other";
  else if (target.schedule.stores == StoreKind::Plain)
    plan.plainReason = "the schedule says so";
  else if (!target.isX86)
    plan.plainReason = "the CPU is no x86-64";
  else if (findChainPhase(kernel))
    plan.plainReason = "eight rows of a sum are worked on together";
  else if (!(plan.streamed = StreamedRows::plan(kernel, target.schedule.table)))
    plan.plainReason = "no row is stored along its columns, a store depends on a condition, or rows that later phases "
                       "read do not fit onto the stack";
  else if (target.schedule.stores == StoreKind::Auto && fitSmallestCache(kernel, *plan.streamed)) {
    plan.plainReason = "what is written is known to fit into the caches";
    plan.streamed.reset();
  }
  plan.prefetch = plan.streamed && target.schedule.usesPrefetch();
  RowOrder order = target.schedule.rows;
  const ScheduleTable &table = target.schedule.table;
  plan.fetchesBetween = plan.prefetch && fetchesBetween(kernel, table);
  int64_t cachedColumns = chooseCachedBatchColumns(kernel, table);
  std::optional<std::string> batchObstacle = findBatchObstacle(kernel, table.batchColumns);
  bool batches = plan.path == RowPath::Vector && !kernel.hasAccumulated() &&
                 (order == RowOrder::Batched || (order == RowOrder::Auto && paysToBatch(target)));
  plan.isBatched = batches && !findBatchObstacle(kernel, cachedColumns);
  plan.isBatchedPastCache = batches && !batchObstacle;
  plan.cachedBatchColumns = limitBatchColumns(kernel, table, cachedColumns);
  plan.streamedBatchColumns = limitBatchColumns(kernel, table, table.batchColumns);
  if (plan.streamed && !plan.streamed->getKept().empty())
    plan.streamedBatchColumns = plan.streamed->getBatchColumns();
  plan.hasLoneRow = plan.isBatched && paysToRunAlone(kernel);
  if (order == RowOrder::Batched && batchObstacle)
    plan.singleReason = *batchObstacle;
  else if (!plan.streamed)
    plan.singleReason = "no row is written past the cache";
  else if (kernel.hasAccumulated())
    plan.singleReason = "each row is added to sums down the rows";
  else if (order == RowOrder::Single || order == RowOrder::Batched)
    plan.singleReason = "the schedule says so";
  else if (std::optional<std::string> obstacle = findPipelineObstacle(kernel, target))
    plan.singleReason = *obstacle;
  else if (order == RowOrder::Auto &&
           !paysToPipeline(kernel, *plan.streamed, plan.prefetch, plan.isBatchedPastCache, table))
    plan.singleReason = "not known to be faster";
  return plan;
}

RowOrder KernelPlan::getOrder(bool isPastCache) const {
  if (isPastCache && isPipelined())
    return RowOrder::Pipelined;
  return (isPastCache ? isBatchedPastCache : isBatched) ? RowOrder::Batched : RowOrder::Single;
}

int64_t KernelPlan::getBatchColumns(bool isPastCache) const {
  return isPastCache ? streamedBatchColumns : cachedBatchColumns;
}
