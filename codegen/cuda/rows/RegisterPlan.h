// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kernels keep their rows in registers, and which threads have which columns. Not: their code (RegisterRows.h).

#ifndef RESID_CODEGEN_CUDA_ROWS_REGISTERPLAN_H
#define RESID_CODEGEN_CUDA_ROWS_REGISTERPLAN_H

#include "codegen/rows/RowsDialect.h"
#include "codegen/rows/SumOrder.h"
#include <optional>

namespace mlir::resid::cuda {

/// A row is cut into spans of 1,024 columns, the blocks of the ordered sum. Thread t of a span has the lanes
/// lanes·t, …, lanes·t + lanes - 1 of each of its chunks of 64 columns. So the chain of a lane stays in one thread, and
/// a thread's columns of a chunk are one access.
struct RegisterPlan {
  /// Columns of the row.
  int64_t width;
  /// Neighbouring columns that a thread has in each chunk: 2, 4 or 8.
  int64_t lanes;
  /// Rows whose elements stay in registers from one phase to the next.
  int64_t keptRows;
  /// Sums down the rows, whose terms of a chain of rows are added up in registers.
  int64_t sums;
  /// Registers of a thread that rows and sums take.
  int64_t keptRegisters;

  /// Nothing where a kernel needs the looped emitter: its width is open, below 64 or above 32,768, no multiple of its
  /// lanes, or ends in a span with less than a chunk; it has f64; or too much would be kept.
  static std::optional<RegisterPlan> choose(rows::KernelOp kernel);

  int64_t getSpans() const { return llvm::divideCeil(width, rows::kBlockColumns); }
  int64_t getSpanThreads() const { return rows::kLanes / lanes; }
  int64_t getRowThreads() const { return getSpans() * getSpanThreads(); }
  /// Rows that a block of threads runs: several only where a row has no more threads than a warp.
  int64_t getBlockRows() const;
  int64_t getBlockThreads() const { return getBlockRows() * getRowThreads(); }
  /// Chunks of a thread.
  int64_t getChunks() const;
  /// The first chunk in which the threads of the last span may have no columns.
  int64_t getFullChunks() const;
  /// The bytes that an access of these elements takes, and that its address must be a multiple of.
  int64_t getAccessBytes(Type element) const;
};

/// Whether operand `number` of a kernel is a row of its own for each row, along the columns.
bool isOwnRow(rows::KernelOp kernel, unsigned number);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_REGISTERPLAN_H
