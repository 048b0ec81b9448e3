// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rows of a kernel can be written past the cache, and what then has to be kept on the stack because later phases
// read it. Not: the choice at run time (StoreChoice.h).

#ifndef RESID_CODEGEN_CPU_CHOICE_STREAMEDROWS_H
#define RESID_CODEGEN_CPU_CHOICE_STREAMEDROWS_H

#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/rows/RowsDialect.h"

namespace mlir::resid::cpu {

/// The number of columns of a kernel where it is known.
std::optional<int64_t> getStaticWidth(rows::KernelOp kernel);

/// The rows that a kernel stores to along the columns. What was written past the cache must not be read again, so a row
/// that later phases read lives in a scratch row on the stack; the store to memory is its last one. Where rows do not
/// begin at cache lines, all of them live in scratch rows, and are copied to memory from there.
class StreamedRows {
public:
  /// The plan for a kernel; none where nothing is stored along the columns, where a store depends on a condition, or
  /// where rows of the known width do not fit onto the stack.
  static std::optional<StreamedRows> plan(rows::KernelOp kernel, const ScheduleTable &table);

  /// Positions, in inputs followed by inits, of the operands that are written past the cache.
  ArrayRef<unsigned> getOperands() const { return operands; }
  /// The rows that need a scratch row wherever they begin.
  ArrayRef<BlockArgument> getKept() const { return kept; }
  bool isKept(Value row) const { return llvm::is_contained(kept, row); }
  /// The other rows, which need one where they do not begin at cache lines.
  ArrayRef<BlockArgument> getStaged() const { return staged; }
  /// Whether no later store goes to the same row.
  bool isLast(rows::StoreOp store) const { return last.contains(store); }
  /// Whether a later phase reads what is stored.
  bool isReadLater(rows::StoreOp store) const { return readLater.contains(store); }
  /// Columns that the scratch rows of kept rows have room for, a multiple of 64. Rows may be wider where the width is
  /// known at run time only.
  int64_t getCapacity() const { return capacity; }
  /// getCapacity() if staged rows have scratch rows too. 0 where rows of the known width do not fit.
  int64_t getStagedCapacity() const { return stagedCapacity; }
  /// Columns that all kept rows of a batch (rows/BatchedRows.cpp) have room for, unless there is one row in it.
  int64_t getBatchColumns() const { return batchColumns; }
  /// Stack memory for all scratch rows, one after the other.
  int64_t getScratchBytes() const { return scratchBytes; }

private:
  SmallVector<unsigned> operands;
  SmallVector<BlockArgument> kept, staged;
  DenseSet<Operation *> last, readLater;
  int64_t capacity = 0, stagedCapacity = 0, batchColumns = 0, scratchBytes = 0;

  void layOut(int64_t room, std::optional<int64_t> width, int64_t columnsOfBatch);
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_STREAMEDROWS_H
