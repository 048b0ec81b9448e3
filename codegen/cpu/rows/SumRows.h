// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums down the rows: the loops over lanes, groups and chains of rows, what becomes of a chain, and the results. Not:
// the rows of a chain, which a path emits (RowEmitter.h), nor which thread takes which lanes (LowerKernels.cpp).

#ifndef RESID_CODEGEN_CPU_ROWS_SUMROWS_H
#define RESID_CODEGEN_CPU_ROWS_SUMROWS_H

#include "codegen/cpu/rows/VectorRows.h"
#include "codegen/rows/SumsDownRows.h"

namespace mlir::resid::cpu {

/// Emits code of a kernel with sums, at the builder's position. Stack memory is taken in `entry`.
class SumRows : rows::SumsDownRows {
public:
  SumRows(Code &builder, Block *entry, rows::KernelOp kernel, const rows::KernelAddresses &addresses,
          unsigned vectorBits);

  /// Emits the rows [low, high) of a chain; its sums are then where the emitter says (RowEmitter::setChain).
  using EmitChain = function_ref<void(Value low, Value high)>;
  /// The rows [low, high), both i64, added up per lane. Who runs some rows of a lane runs all of them, in order, from
  /// row `first` on, in the memory of whose lane chains wait that go on. `emitChain` uses the emitter.
  void emitLanes(RowEmitter &emitter, Value first, Value low, Value high, EmitChain emitChain);
  /// The results in the columns [low, high), both i64; `low` is a multiple of 64. There is at least one row.
  void emitResults(Value low, Value high);

private:
  void emitGroup(Value lane, Value firstGroup, Value group, Value low, Value high, EmitChain emitChain);
  void emitCascade(Value lane, Value isFirstGroup, Value begin, Value next, Value groupLow, Value groupHigh);
  void emitPass(Value condition, function_ref<void(const Sum &, Value column)> body);
  void addToChain(const Sum &sum, Value from, Value to, Value column, bool isFirst);
  void addToLane(const Sum &sum, Value lane, Value column, bool isFirst);
  Value createTable(const Sum &sum, Value low, Value high);
  Value emitTree(Value table, Value column, Type type, int64_t lane, int64_t stride);
  void emitResult(const Sum &sum, Value table, Value column, int64_t columns);

  Value getLane(const Sum &sum, Value lane);
  Value load(Type type, Value pointer, Value column);
  void store(Value value, Value pointer, Value column);

  Block *entry;
  unsigned vectorBits;
};

/// The rows [low, high) of a chain, one after the other, from +0 where it begins with them.
void emitChain(RowEmitter &emitter, rows::KernelOp kernel, Value width, Value low, Value high);
/// The same; eight rows in one pass over the columns, with their sums in registers, where the kernel has one phase that
/// is short, and no more.
void emitVectorChain(VectorRowEmitter &emitter, rows::KernelOp kernel, Value low, Value high);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_SUMROWS_H
