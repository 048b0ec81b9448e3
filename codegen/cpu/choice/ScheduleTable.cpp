// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table; see ScheduleTable.h. docs/measurements/schedule.md has the figures and the commands that give them.

#include "codegen/cpu/choice/ScheduleTable.h"

using namespace mlir::resid::cpu;

static constexpr int64_t kMany = int64_t(1) << 40;

static constexpr Threshold kThresholds[] = {
    {"task-elements", &ScheduleTable::taskElements, "elements",
     "a task has as many rows as make this many; handing less to another thread costs more than it saves", "tasks", 1,
     kMany, 1},
    {"cache-bytes", &ScheduleTable::cacheBytes, "bytes",
     "outputs larger than this are written past the cache, if they are larger than the second-level cache, too",
     "stores", 1, kMany, 1},
    {"cache-share", &ScheduleTable::cacheShare, "parts",
     "the same of outputs larger than the last-level cache divided by this", "stores", 1, 1024, 1},
    {"unaligned-columns", &ScheduleTable::unalignedColumns, "columns",
     "rows that do not begin at cache lines are written past the cache from this width on", "unaligned-rows", 1, kMany,
     1},
    {"batched-unaligned-columns", &ScheduleTable::batchedUnalignedColumns, "columns",
     "the same where rows are in batches", "unaligned-rows", 1, kMany, 1},
    {"batched-unaligned-narrow-columns", &ScheduleTable::batchedUnalignedNarrowColumns, "columns",
     "the same where rows are in batches and a result is of 16 bits", "unaligned-rows", 1, kMany, 1},
    {"batch-columns", &ScheduleTable::batchColumns, "columns",
     "all rows of a batch together have this many, and a row of a batch at most half of it", "batches", 128, 4096, 64},
    {"batch-bytes", &ScheduleTable::batchBytes, "bytes",
     "through the cache, a batch has more columns while all its rows together take at most this, three quarters of a "
     "first-level cache of 32 KiB",
     "batches", 1024, 262144, 1024},
    {"kept-pipeline-columns", &ScheduleTable::keptPipelineColumns, "columns",
     "rows that are kept on the stack are pipelined from this width on", "pipelined-rows", 1, kMany, 1},
    {"reread-pipeline-columns", &ScheduleTable::rereadPipelineColumns, "columns",
     "rows of inputs that are read again are pipelined from this width on", "pipelined-rows", 1, kMany, 1},
    {"reread-pipeline-bytes", &ScheduleTable::rereadPipelineBytes, "bytes",
     "the same only where a row of all inputs is at most as large as this", "pipelined-rows", 1, kMany, 1},
    {"batched-pipeline-columns", &ScheduleTable::batchedPipelineColumns, "columns",
     "rows that could be in batches are pipelined past the cache from this width on", "pipelines-and-batches", 1, kMany,
     1},
    {"drawn-batched-pipeline-columns", &ScheduleTable::drawnBatchedPipelineColumns, "columns",
     "the same where random numbers are drawn", "pipelines-and-batches", 1, kMany, 1},
    {"prefetch-bytes", &ScheduleTable::prefetchBytes, "bytes", "how far ahead of its use a row is asked for",
     "prefetching", 64, 65536, 64},
    {"pipelined-prefetch-bytes", &ScheduleTable::pipelinedPrefetchBytes, "bytes",
     "the same where a step works on two rows", "prefetching", 64, 65536, 64},
    {"between-prefetch-bytes", &ScheduleTable::betweenPrefetchBytes, "bytes",
     "the passes between the first one and the last of pipelined rows fetch the next one where a row of all inputs is "
     "at "
     "most as large as this",
     "passes-between", 1, kMany, 1},
    {"sum-prefetch-bytes", &ScheduleTable::sumPrefetchBytes, "bytes",
     "how far ahead whole rows are asked for where they are read twice and added to sums down the rows", "backward", 64,
     262144, 64},
    {"local-row-bytes", &ScheduleTable::localRowBytes, "bytes",
     "the local rows of a kernel take no more than this of the stack, half of a first-level cache of 32 KiB",
     "local-rows", 1024, 24576, 1024},
    {"local-row-passes", &ScheduleTable::localRowPasses, "passes",
     "with local-rows=auto, a value that is cheap to compute is kept in a local row where so many later passes need it",
     "local-rows", 1, 1024, 1},
    {"product-task-terms", &ScheduleTable::productTaskTerms, "multiply-adds",
     "a task of a matrix product has so many at least", "products", 1024, kMany, 1},
    {"product-rows", &ScheduleTable::productRows, "rows",
     "rows of a product that share a group of panels before the next group is read", "products", 8, 65536, 1},
    {"product-group-bytes", &ScheduleTable::productGroupBytes, "bytes",
     "a group of panels takes no more than this, half of a second-level cache of 1 MiB, while all rows of a block go "
     "by; "
     "vectors of less than 512 bits take half of it",
     "products", 16384, 16777216, 1024},
    {"product-row-blocks", &ScheduleTable::productRowBlocks, "blocks",
     "a product runs the row kernels around it block by block where it has so many blocks of 128 rows at least; "
     "0: nowhere",
     "products", 0, kMany, 1},
};

llvm::ArrayRef<Threshold> mlir::resid::cpu::getThresholds() { return kThresholds; }
