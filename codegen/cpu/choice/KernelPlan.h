// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one kernel is run on one CPU: the choices that the emitter follows and the report tells. Emits nothing.

#ifndef RESID_CODEGEN_CPU_CHOICE_KERNELPLAN_H
#define RESID_CODEGEN_CPU_CHOICE_KERNELPLAN_H

#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/cpu/choice/StreamedRows.h"
#include <string>

namespace mlir::resid::cpu {

struct KernelPlan {
  RowPath path = RowPath::Vector;
  /// Why the scalar path is taken though the schedule asks for vectors; empty where it is not.
  std::string obstacle;
  /// How rows are written past the cache where a call may do so, else why none does.
  std::optional<StreamedRows> streamed;
  std::string plainReason;
  /// Whether the version that writes past the cache prefetches.
  bool prefetch = false;
  /// Why it works on one row at a time; empty where it works on two (rows/PipelinedRows.cpp).
  std::string singleReason;
  bool isPipelined() const { return singleReason.empty(); }
  /// Where it does: whether phases between the first and the last one of a row prefetch the next one.
  bool fetchesBetween = false;
  /// Whether rows are worked on in batches where they are narrow (rows/BatchedRows.cpp), by the version that writes
  /// through the cache, and by the one that writes past it, unless that isPipelined().
  bool isBatched = false, isBatchedPastCache = false;
  /// The order of the version that writes past the cache, and of the one that writes through it; never Auto.
  RowOrder getOrder(bool isPastCache) const;
  /// How many columns the rows of a batch may have together.
  int64_t cachedBatchColumns = 0, streamedBatchColumns = 0;
  int64_t getBatchColumns(bool isPastCache) const;
  /// Whether a call with one row, through the cache, runs it by code of its own.
  bool hasLoneRow = false;
};

KernelPlan planKernel(rows::KernelOp kernel, const CPUTarget &target);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_KERNELPLAN_H
