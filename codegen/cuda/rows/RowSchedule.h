// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How rows that stay in registers are run on a GPU where several ways give the same bits: the `gpu-` keys of
// `--schedule=`, and the table of what holds without them. Plain data and its text form.

#ifndef RESID_CODEGEN_CUDA_ROWS_ROWSCHEDULE_H
#define RESID_CODEGEN_CUDA_ROWS_ROWSCHEDULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace mlir::resid::cuda {

/// What every `gpu-` key begins with.
constexpr llvm::StringLiteral kScheduleKeyPrefix = "gpu-";

/// How often the elements are loaded that all rows share, such as gamma.
enum class WeightKind {
  Reload,    // by every phase that needs them, a chunk at a time
  Registers, // once for each row, all at a time, and kept
};

/// Of RowSchedule::blockRows.
constexpr int64_t kManyRows = -1;

struct RowSchedule {
  /// Neighbouring columns of a thread: 2, 4 or 8; 0: as the table says.
  int64_t lanes = 0;
  /// Rows of a block of threads, where a row has at most a warp: a power of two up to 128; 0: as the table says, and
  /// one where a launch has few; kManyRows: as the table says.
  int64_t blockRows = 0;
  WeightKind weights = WeightKind::Reload;

  /// Gives a key its value. The error names the keys or the values there are.
  llvm::Error set(llvm::StringRef key, llvm::StringRef value);
};

/// One row of the table: which lanes kernels begin with whose widest element has at least `elementBytes`, and whose
/// rows have at most `mostColumns`. Fewer are taken where a width is no multiple, or too much would have to be kept.
struct LaneChoice {
  int64_t elementBytes, mostColumns, lanes;
};
llvm::ArrayRef<LaneChoice> getLaneTable();

/// Threads of a block that has several rows: two warps. With more, a thousand rows leave processors without a block.
constexpr int64_t kSharedBlockThreads = 64;

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_ROWSCHEDULE_H
