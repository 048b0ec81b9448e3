// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the phases of the vector path ask for ahead of its use. Not: whether a kernel does so (KernelPlan.h), nor the
// instructions (VectorMemory.cpp).

#ifndef RESID_CODEGEN_CPU_ROWS_VECTORPREFETCHES_H
#define RESID_CODEGEN_CPU_ROWS_VECTORPREFETCHES_H

#include "codegen/cpu/rows/VectorBody.h"
#include "codegen/rows/RowEmitter.h"

namespace mlir::resid::cpu {

using rows::RowPointers;

/// What is asked for.
enum class PrefetchScope {
  Nothing,
  MaskedColumns, // what a phase uses under masks
  RowsAhead,     // what the row and the next one read
  RowsBetween,   // the same in pipelined rows, with phases between the first and the last one
};

class VectorPrefetches {
public:
  /// `batchRows` (i64) is the number of rows that are worked on at a time.
  VectorPrefetches(VectorFunction &function, PrefetchScope scope, Value batchRows)
      : function(function), builder(function.builder), scope(scope), batchRows(batchRows) {}

  /// Says in `places` what a phase asks for at each step. `bytesAhead`: how far ahead of its use.
  void choose(rows::PhaseOp phase, const RowPointers &pointers, int64_t bytesAhead, RowPlaces &places);

private:
  std::optional<std::pair<int64_t, int64_t>> findReaders(ArrayRef<rows::PhaseOp> phases, unsigned operand);
  int64_t countBytesReadAgain(ArrayRef<rows::PhaseOp> phases);
  Value getSumRowsAhead(ArrayRef<rows::PhaseOp> phases);
  SmallVector<Prefetch> getRowsAhead(rows::PhaseOp phase, const RowPointers &pointers, int64_t bytesAhead);
  SmallVector<Prefetch> getMaskedColumns(rows::PhaseOp phase, const RowPointers &pointers);
  Value getBytesAheadOfNarrow();

  VectorFunction &function;
  Code &builder;
  PrefetchScope scope;
  Value batchRows;
  /// Made where they are first asked for.
  Value bytesAheadOfNarrow, sumRowsAhead;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_VECTORPREFETCHES_H
