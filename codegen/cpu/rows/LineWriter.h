// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes bytes past the cache to where cache lines do not begin: in whole lines, by two functions that all kernels of a
// module share. Not: which rows go this way (StreamedRows.h).

#ifndef RESID_CODEGEN_CPU_ROWS_LINEWRITER_H
#define RESID_CODEGEN_CPU_ROWS_LINEWRITER_H

#include "codegen/cpu/choice/CPUTarget.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::resid::cpu {

/// Emits the use of a writer, whose state is stack memory of the function around. Bytes of a line that has not been
/// filled wait there for those that follow in memory, so that the line which two rows share is written once. What does
/// not follow is not waited for: the bytes, and no others, are then written by plain stores.
class LineWriter {
public:
  /// The state is taken in `entry`.
  static LineWriter create(OpBuilder &builder, Location loc, Block *entry, ModuleOp module, const CPUTarget &target);

  /// Writes `bytes` (i64) from `from`, which is on the stack, to `to` (pointers of any alignment). 64 bytes are
  /// readable at `from` and after the last byte.
  void emitWrite(OpBuilder &builder, Location loc, Value to, Value from, Value bytes) const;
  /// Writes what waits.
  void emitFlush(OpBuilder &builder, Location loc) const;

private:
  ModuleOp module;
  CPUTarget target;
  Value state;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_LINEWRITER_H
