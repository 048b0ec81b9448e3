// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every number that decides how a kernel is run on a CPU, with its unit and the measurement behind it. None changes a
// bit of a result. Not: the choices that are made by these numbers (KernelPlan.cpp and the files beside it).

#ifndef RESID_CODEGEN_CPU_CHOICE_SCHEDULETABLE_H
#define RESID_CODEGEN_CPU_CHOICE_SCHEDULETABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace mlir::resid::cpu {

/// The thresholds by their names; what each means stands in getThresholds().
struct ScheduleTable {
  int64_t taskElements = 32768;
  int64_t cacheShare = 4;
  int64_t cacheBytes = 8 << 20;
  int64_t unalignedColumns = 64;
  int64_t batchedUnalignedColumns = 128;
  int64_t batchedUnalignedNarrowColumns = 512;
  int64_t batchColumns = 1024;
  int64_t batchBytes = 24576;
  int64_t keptPipelineColumns = 64;
  int64_t rereadPipelineColumns = 128;
  int64_t rereadPipelineBytes = 8192;
  int64_t batchedPipelineColumns = 128;
  int64_t drawnBatchedPipelineColumns = 512;
  int64_t prefetchBytes = 2048;
  int64_t pipelinedPrefetchBytes = 4096;
  int64_t betweenPrefetchBytes = 8192;
  int64_t sumPrefetchBytes = 32768;
  int64_t localRowBytes = 16384;
  int64_t localRowPasses = 2;
  int64_t productTaskTerms = 1 << 20;
  int64_t productRows = 256;
  int64_t productGroupBytes = 512 << 10;
  int64_t productRowBlocks = 32;
};

/// One row of the table.
struct Threshold {
  /// The key in --schedule=key=number.
  llvm::StringRef key;
  int64_t ScheduleTable::*number;
  llvm::StringRef unit;
  llvm::StringRef meaning;
  /// The section of docs/measurements/schedule.md that the default comes from.
  llvm::StringRef measurement;
  /// The numbers that are allowed: from `least` to `most`, in multiples of `step`.
  int64_t least, most, step;
};

llvm::ArrayRef<Threshold> getThresholds();

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_SCHEDULETABLE_H
