// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the factors of a contraction lie where they are not read in place: b in panels of columns, which are the same for
// every processor, and a in the arithmetic type, row by row. Not: what packs them.

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_PANELMEMORY_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_PANELMEMORY_H

#include "codegen/contractions/ContractionLoops.h"
#include "codegen/kernels/Target.h"
#include "dialect/WeightPanels.h"

namespace mlir::resid::cpu {

/// A product of so many rows at most reads b once and has little to do with it: packing all of b first would take
/// longer. Its parts are packed where they are used.
inline constexpr int64_t kFewRows = 8;
/// The same where it is known how many there are: their sums then all wait, however many columns b has. A b of integers
/// is read where it lies by kFewRows at most.
inline constexpr int64_t kFewKnownRows = 32;

/// Each byte of a packed a has room for so many (contractions/ByteDot.h).
inline constexpr int64_t kMostByteParts = 2;
/// The sum of each row stands at the end of a packed a of integers.
inline constexpr int64_t kRowSumBytes = 4;

struct PanelMemory {
  /// With `mayPackParts`, b is packed only where the product has more than kFewRows rows, or kFewKnownRows.
  bool packsA = false, packsB = false, mayPackParts = false;
  /// The product of the contracted loops.
  kernels::Extent contracted;
  /// The elements of a packed a: those of a for integers, else the arithmetic type.
  Type aType;
  /// Elements from one row of a packed a to the next: whole cache lines, an odd number of them, so that rows do not
  /// compete for the same places of a cache.
  kernels::Extent rowLength;
  /// Panels of one matrix b, and elements from one panel to the next.
  kernels::Extent panels, panelLength;
  /// Elements from a term to the next in a panel, before terms are interleaved.
  int64_t termLength = kPanelColumns;
  /// How many different matrices a and b there are.
  kernels::Extent aBatches, bBatches;
  /// The scratch memory, which begins with a.
  kernels::Extent aBytes, bBytes;

  /// Whether there are few rows (i1).
  static Value hasFewRows(OpBuilder &builder, Location loc, const contraction::KernelLoops &loops);
  static PanelMemory create(OpBuilder &builder, Location loc, const contraction::KernelLoops &loops);
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_PANELMEMORY_H
