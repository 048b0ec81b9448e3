// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a factor b that is computed from integers, in panels: the terms of 16 columns each, as vectors of f32. Not:
// what is done with them.

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_INTEGERWEIGHTS_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_INTEGERWEIGHTS_H

#include "codegen/builder/Code.h"
#include "codegen/contractions/ContractionLoops.h"
#include "codegen/cpu/choice/CPUTarget.h"

namespace mlir::resid::cpu {

/// How the integers of a b lie, and what they are scaled with (contraction.kernel).
struct IntegerForm {
  /// How many terms of a column have one scale; 0: b holds no integers.
  int64_t group = 0;
  bool areNibbles = false;
  /// The type of the scale, and of the zero or offset, or null.
  Type scale, second;
  /// So many bytes of a column are read at a time: those of a vector, if a group has them.
  int64_t tileBytes = 0;

  static IntegerForm of(const CPUTarget &target, const contraction::KernelLoops &loops);
  int64_t getGroupBytes() const { return areNibbles ? group / 2 : group; }
  std::string getName() const;
};

/// The columns of panels, from their first term on.
struct IntegerColumns {
  /// The first bytes of the first column, and the distance of columns in bytes.
  Value bytes, stride;
  /// The first scale of the first column, and what stands beside it (null where there is nothing); the distance of
  /// columns in elements.
  Value scales, seconds, parameterStride;
  /// How many columns there are (i64), 1 at least. Others repeat the last one.
  Value present;

  /// Those from panel `panel` (i64) of a whole b on, which has columns of `terms` terms (i64).
  static IntegerColumns ofPanels(Code &code, const contraction::KernelLoops &loops, Value panel, Value terms);
};

/// Runs through `terms` (i64) terms in ascending order, whole groups, of so many panels side by side. `body` gets a
/// term and a vector for each panel, and gives the next ones of the values that are carried along; the result is the
/// last ones. Stack memory is taken in `entry`.
using TermBody = function_ref<SmallVector<Value>(Value term, ValueRange panels, ValueRange carried)>;
SmallVector<Value> forEachTerm(Code &code, Block *entry, const IntegerForm &form, const IntegerColumns &columns,
                               int64_t panels, Value terms, ValueRange first, TermBody body);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_INTEGERWEIGHTS_H
