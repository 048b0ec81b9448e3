// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kernels work on two rows at a time where nothing was asked for, from measurements. Not: which ones can, and how
// (Obstacles.h, rows/PipelinedRows.cpp).

#ifndef RESID_CODEGEN_CPU_CHOICE_ROWORDERCHOICE_H
#define RESID_CODEGEN_CPU_CHOICE_ROWORDERCHOICE_H

#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/cpu/choice/StreamedRows.h"

namespace mlir::resid::cpu {

/// Whether pipelined rows are faster than single ones, as far as it was measured. `isBatched`: compared with batches
/// instead. `prefetch`: whether the kernel prefetches.
bool paysToPipeline(rows::KernelOp kernel, const StreamedRows &streamed, bool prefetch, bool isBatched,
                    const ScheduleTable &table);

/// Whether narrow rows are faster in batches than single, as far as it was measured: on x86-64 with vectors of every
/// width, and on nothing else.
bool paysToBatch(const CPUTarget &target);

/// How many columns a batch has in the version that writes through the cache: wider rows are in batches too, as long as
/// the rows of all arrays stay in the first level of the cache.
int64_t chooseCachedBatchColumns(rows::KernelOp kernel, const ScheduleTable &table);

/// Whether a batch of one row is worth code of its own, without the arrays and loops of batches: where a row is known
/// to be one chunk of columns, that code has no loop at all.
bool paysToRunAlone(rows::KernelOp kernel);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_ROWORDERCHOICE_H
