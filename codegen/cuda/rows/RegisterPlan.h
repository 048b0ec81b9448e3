// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kernels keep their rows in registers, and which threads have which columns. Not: their code (RegisterRows.h).

#ifndef RESID_CODEGEN_CUDA_ROWS_REGISTERPLAN_H
#define RESID_CODEGEN_CUDA_ROWS_REGISTERPLAN_H

#include "codegen/cuda/DeviceKernel.h"
#include "codegen/cuda/rows/RowSchedule.h"
#include "codegen/rows/RowsDialect.h"
#include "codegen/rows/SumOrder.h"
#include <optional>

namespace mlir::resid::cuda {

/// A row is cut into the spans of the ordered sum, of 1,024 columns. Thread t of a span has the lanes
/// lanes·t, …, lanes·t + lanes - 1 of each of its chunks of 64 columns. So the chain of a lane stays in one thread, and
/// a thread's columns of a chunk are one access.
struct RegisterPlan {
  /// Columns of the row, or the most that a row of open width may have.
  int64_t width;
  /// The fewest columns that a row may have: `width` where that is known when compiling.
  int64_t leastWidth;
  /// Neighbouring columns that a thread has in each chunk: 2, 4 or 8.
  int64_t lanes;
  /// Rows whose elements stay in registers from one phase to the next.
  int64_t keptRows;
  /// Rows that all rows share, such as gamma, which stay in registers too.
  int64_t keptWeights;
  /// Sums down the rows, whose terms of a chain of rows are added up in registers.
  int64_t sums;
  /// Registers of a thread that rows and sums take.
  int64_t keptRegisters;
  /// Rows that a block of threads runs: several only where a row has no more threads than a warp.
  int64_t blockRows;
  /// What a thread may have at most, or 0 where the driver's compiler decides.
  int64_t mostRegisters;
  /// How many rows a launch has at most that takes this plan; 0: any number.
  int64_t mostRows = 0;
  /// Whether all of a row is loaded before its first phase, with what the last one alone needs.
  bool loadsEarly = false;
  /// Whether elements that one phase alone needs are loaded a few chunks ahead of where it uses them, and not all
  /// before it.
  bool passesRows = false;
  /// Whether elements that several phases need are loaded by each of them, where nothing may have stored to their
  /// place.
  bool loadsAgain = false;
  /// Whether registers are so short that what LLVM would keep is computed again: pointers by each phase, and for rare
  /// rows what the phases before have computed.
  bool computesAgain = false;
  /// Whether a row's elements are brought into the cache of the chip while the row before is computed.
  bool prefetchesRows = false;

  /// Nothing where a kernel needs the looped emitter: its width is below 64 or above 32,768, no multiple of its lanes,
  /// or ends in a span with less than a chunk; it has f64; or too much would be kept. One plan where the width is known
  /// when compiling, and one for few rows, which has more threads for each; else one for rows of one span, and one for
  /// rows of several, up to 256 threads. The last plan that suits is the best one.
  static SmallVector<RegisterPlan, 2> choose(rows::KernelOp kernel, const RowSchedule &schedule);

  /// Whether the width is known when the kernel runs only. It has to be one that a plan of that width would take.
  bool isOpen() const { return leastWidth < width; }
  int64_t getSpans() const { return llvm::divideCeil(width, rows::kSpanColumns); }
  int64_t getSpanThreads() const { return rows::kLanes / lanes; }
  int64_t getRowThreads() const { return getSpans() * getSpanThreads(); }
  /// Threads of the narrowest row.
  int64_t getLeastRowThreads() const { return llvm::divideCeil(leastWidth, rows::kSpanColumns) * getSpanThreads(); }
  int64_t getBlockThreads() const { return blockRows * getRowThreads(); }
  /// Chunks of a thread.
  int64_t getChunks() const;
  /// The first chunk in which the threads of the last span may have no columns. A row of open width may end anywhere.
  int64_t getFullChunks() const;
  /// The bytes that an access of these elements takes, and that its address must be a multiple of.
  int64_t getAccessBytes(Type element) const;
};

/// Whether a row of `width` columns ends in a span that has a chunk for each of its threads.
bool endsInWholeChunk(int64_t width);

/// Whether a kernel has so many operands that their pointers, kept where LLVM would keep them, take the registers that
/// rows need. Several streams and their mix are operands each.
bool hasManyOperands(rows::KernelOp kernel);

/// Whether phases may load a row again: nothing is stored to it, nor to another row before the last phase. Results may
/// lie in the buffer of an argument.
bool mayLoadAgain(rows::KernelOp kernel, Value row);

/// Whether elements of a row are loaded.
bool isLoaded(Value row);

/// Whether operand `number` of a kernel is a row of its own for each row, along the columns.
bool isOwnRow(rows::KernelOp kernel, unsigned number);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_REGISTERPLAN_H
