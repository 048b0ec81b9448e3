// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Into which groups and lanes the rows of sums down the rows fall (SumOrder.h), as code on i64, and how the memory for
// such sums is laid out. For every target. Not: the additions.

#ifndef RESID_CODEGEN_ROWS_ROWPARTITION_H
#define RESID_CODEGEN_ROWS_ROWPARTITION_H

#include "codegen/builder/Code.h"
#include "codegen/kernels/Target.h"
#include "codegen/rows/RowsDialect.h"

namespace mlir::resid::rows {

/// The lanes that groups fall into are numbered in order: where groups are fewer than the 64 lanes, each has its own.
struct RowPartition {
  Value rows, groupRows, groups, lanes;

  static RowPartition create(Code &code, Value rows);
  /// The first group of a lane's number (up to `lanes`).
  Value getFirstGroup(Code &code, Value lane) const;
  /// The rows [first, end) of the lanes [low, high).
  std::pair<Value, Value> getRows(Code &code, Value low, Value high) const;
  /// The number of the lane that a group falls into.
  Value findLane(Code &code, Value group) const;
};

/// The units that a GPU runs side by side, since no order lies between their rows: chains of kRunRows rows, or whole
/// groups where those are smaller.
struct RowUnits {
  Value rows, count, perGroup;

  static RowUnits create(Code &code, const RowPartition &partition);
};

/// The memory of a kernel's sums where every unit has its own: for each sum and unit a row in the type of the terms
/// (f32, or f64 for f64) for the chain of 8 rows, and one for the unit, each as long as SumMemory::getLength.
struct UnitMemory {
  static constexpr int64_t kLevels = 2;

  /// Rows of f32 of a sum.
  static Value countRows(Code &code, const RowPartition &partition, bool isF64);
  /// Of all sums of a kernel.
  static kernels::ScratchShape count(OpBuilder &builder, KernelOp kernel);
};

/// The memory of a kernel's sums where groups take turns: rows of f32, or pairs of them for f64, each as long as
/// `getLength`. For each sum there is one of f64 per lane, and one more for absent lanes; then, per lane, three in the
/// type of the terms for the chains of 8, 64 and 512 rows.
struct SumMemory {
  static constexpr int64_t kLevels = 3;

  Code &code;
  const RowPartition &partition;

  /// Columns in whole chunks, so that whole vectors may be used.
  static Value getLength(Code &code, Value width);
  /// Rows of f32 before the chains of a sum, and of a sum altogether.
  Value countLaneRows() const;
  Value countRows(bool isF64) const;
  /// Of all sums of a kernel.
  static kernels::ScratchShape count(OpBuilder &builder, KernelOp kernel);
};

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_ROWPARTITION_H
