// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choices in order; each belongs to a file of its own.

#include "codegen/cpu/choice/KernelPlan.h"

#include "codegen/cpu/choice/LocalRows.h"
#include "codegen/cpu/choice/Obstacles.h"
#include "codegen/cpu/choice/RowOrderChoice.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

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
  plan.prefetch = plan.streamed && target.schedule.usesPrefetch();
  RowOrder order = target.schedule.rows;
  const ScheduleTable &table = target.schedule.table;
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
