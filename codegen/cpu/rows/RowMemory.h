// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the rows that phases read and write lie while a function of the vector path works on them: in the kernel's
// operands, or, on their way past the cache, in scratch rows on the stack. Not: which rows go past the cache
// (StreamedRows.h), nor how a step is loaded and stored (VectorMemory.cpp).

#ifndef RESID_CODEGEN_CPU_ROWS_ROWMEMORY_H
#define RESID_CODEGEN_CPU_ROWS_ROWMEMORY_H

#include "codegen/cpu/choice/StreamedRows.h"
#include "codegen/cpu/rows/LineWriter.h"
#include "codegen/cpu/rows/VectorBody.h"
#include "codegen/rows/RowEmitter.h"

namespace mlir::resid::cpu {

using rows::RowEmitter;
using rows::RowPointers;

/// Rows on the stack of a function, one of each for every row of a batch.
class ScratchRows {
public:
  /// `batchRows` (i64) is the number of rows that are worked on at a time.
  ScratchRows(VectorFunction &function, Value batchRows)
      : function(function), builder(function.builder), batchRows(batchRows) {}

  /// Says that those of `row` lie at `first`, and gives what lies after them.
  Value add(Location loc, Value row, Value first);
  /// Says at which place (i64) of its batch the row at hand is.
  void choosePlace(Location loc, Value place);
  /// The scratch row of the row at hand; null where `row` has none.
  Value lookup(Value row) const { return current.lookup(row); }

private:
  void clearTails(Location loc, Value first, Type element, Value columns);
  void clearTail(Location loc, Value row, Type element, Value columns);

  VectorFunction &function;
  Code &builder;
  Value batchRows;
  /// Of the row at hand, and of the first row of a batch.
  DenseMap<Value, Value> current;
  llvm::MapVector<Value, Value> first;
};

/// Local rows are on the stack; where operands lie is left to others.
class RowMemory {
public:
  explicit RowMemory(ScratchRows local) : local(std::move(local)) {}
  virtual ~RowMemory() = default;

  /// Where the row of a load lies, by the pointers of the kernel's operands.
  RowSource getSource(rows::LoadOp load, const RowPointers &pointers) const;
  /// Every place that a store writes to.
  SmallVector<RowTarget> getTargets(rows::StoreOp store, const RowPointers &pointers) const;
  /// Says at which place (i64) of its batch the row at hand is.
  virtual void choosePlace(Location loc, Value place);
  /// After a phase: rows that are complete leave for memory.
  virtual void endPhase(rows::PhaseOp phase, const RowPointers &pointers) = 0;
  /// After the last row: makes what was written visible to other threads.
  virtual void finish(Location loc) = 0;

protected:
  virtual RowSource getOperandSource(rows::LoadOp load, const RowPointers &pointers) const = 0;
  virtual SmallVector<RowTarget> getOperandTargets(rows::StoreOp store, const RowPointers &pointers) const = 0;

private:
  ScratchRows local;
};

/// The local rows of a kernel whose width is known, in stack memory of a function.
ScratchRows allocateLocalRows(VectorFunction &function, rows::KernelOp kernel, Value batchRows);

/// Rows are read and written where they are.
class CachedMemory : public RowMemory {
public:
  using RowMemory::RowMemory;
  void endPhase(rows::PhaseOp phase, const RowPointers &pointers) override {}
  void finish(Location loc) override {}

private:
  RowSource getOperandSource(rows::LoadOp load, const RowPointers &pointers) const override;
  SmallVector<RowTarget> getOperandTargets(rows::StoreOp store, const RowPointers &pointers) const override;
};

/// Rows are written past the cache. What later phases read of them is kept in scratch rows.
class StreamedMemory : public RowMemory {
public:
  /// Takes stack memory; `batchRows` (i64) is the number of rows that are worked on at a time.
  StreamedMemory(ScratchRows local, VectorFunction &function, const StreamedRows &stream, Value batchRows);

  void choosePlace(Location loc, Value place) override;
  void endPhase(rows::PhaseOp phase, const RowPointers &pointers) override;
  void finish(Location loc) override;

private:
  RowSource getOperandSource(rows::LoadOp load, const RowPointers &pointers) const override;
  SmallVector<RowTarget> getOperandTargets(rows::StoreOp store, const RowPointers &pointers) const override;
  Value getScratch(Value row) const;

  VectorFunction &function;
  Code &builder;
  const StreamedRows &stream;
  /// Whether (i1) all rows that are written past the cache begin at cache lines.
  Value aligned;
  ScratchRows kept;
  /// The scratch rows of staged rows, which hold one row at a time.
  DenseMap<Value, Value> staged;
  /// What writes rows that do not begin at cache lines.
  llvm::MapVector<Value, LineWriter> writers;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_ROWMEMORY_H
