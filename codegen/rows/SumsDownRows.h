// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sums of a kernel down its rows, as code in the order of SumOrder.h: which there are, where their partial sums
// lie, and how these join. Not: who runs which rows, nor how a target goes over the columns.

#ifndef RESID_CODEGEN_ROWS_SUMSDOWNROWS_H
#define RESID_CODEGEN_ROWS_SUMSDOWNROWS_H

#include "codegen/rows/RowEmitter.h"
#include "codegen/rows/RowPartition.h"

namespace mlir::resid::rows {

/// What targets share. A sum begins at +0 and so never is -0: what would be added to an empty one is moved there
/// instead, which has the same bits.
class SumsDownRows {
protected:
  /// One sum: the kernel's operand, the types of its terms and of its result, and its memory.
  struct Sum {
    unsigned operand;
    Type type, element;
    Value memory;
    /// Where a target keeps levels, if that is not where the memory begins.
    Value chains = {};
    /// Rows of memory for the partial sums at hand: level 0 takes the terms of a chain of 8 rows, level 1 the sums of
    /// eight chains, level 2 those of eight such runs.
    SmallVector<Value, 3> levels = {};
  };

  /// `place` lays out a sum's memory, and gives where that of the next one begins.
  SumsDownRows(Code &builder, KernelOp kernel, const KernelAddresses &addresses, function_ref<Value(Sum &)> place);

  /// The row of memory that lies `rows` (i64) rows of `type` after a pointer.
  Value offsetRows(Value pointer, Value rows, Type type);
  /// Puts `count` levels of each sum where `place` says. What the emitter adds goes to level 0.
  void setLevels(RowEmitter &emitter, int64_t count, function_ref<Value(const Sum &, int64_t level)> place);
  /// The chains of the rows [low, high), one after the other: `body` runs the rows [first, end) of one and joins it.
  void emitChains(Value low, Value high, function_ref<void(Value first, Value end)> body);
  /// What a column's result is, from the sum of its lanes (f64) and its old value: one rounding.
  Value finish(const Sum &sum, Value total, Value old);

  Code &builder;
  KernelOp kernel;
  const KernelAddresses &addresses;
  RowPartition partition;
  /// What may run side by side, where a target's memory is that of units.
  RowUnits units;
  /// Elements of a row of memory.
  Value length;
  SmallVector<Sum> sums;
};

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_SUMSDOWNROWS_H
