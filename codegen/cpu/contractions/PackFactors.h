// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs the factors of a contraction into scratch memory (contractions/PanelMemory.h).

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_PACKFACTORS_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_PACKFACTORS_H

#include "codegen/cpu/contractions/ByteDot.h"
#include "codegen/cpu/contractions/IntegerWeights.h"
#include "codegen/cpu/contractions/KernelView.h"

namespace mlir::resid::cpu {

/// Copies the rows [low, high) of all matrices a, in the arithmetic type, or in the parts that products of bytes want.
void emitPackedRows(KernelView &view, const ByteDot &dot, Value low, Value high);

/// So many neighbours in memory.
struct ElementRun {
  Value first;
  Type type;
  Value count;
};
/// Copies a part of a row of a, each number times `scale`, to numbers of the type of `scale`.
void packScaledRow(Code &code, const ElementRun &source, Value target, Value scale);

/// Some panels of a matrix b, and a run of its terms.
struct PanelRange {
  /// The first column of the matrix at the first of the terms; where the first panel goes, and the distance to the
  /// next.
  Value source, target, panelLength;
  Value firstPanel, panels, terms;
  /// How many terms ahead memory is fetched into the cache; 0: the processor sees by itself what comes next.
  int64_t termsAhead = 0;
};
void packPanels(KernelView &view, const PanelRange &range);

/// So many panels of b, fewer at the end of a matrix, are packed as one.
inline constexpr int64_t kPackedPanels = 8;
/// How many such groups a matrix has.
Value countPanelGroups(Code &code, const PanelMemory &memory);
/// Copies the groups [low, high) of panels of all matrices b, or computes them from integers of this form.
void emitPackedPanels(KernelView &view, const IntegerForm &integers, Value low, Value high);

/// Where the sum (i32) of the terms of a packed row of integers stands.
Value getRowSum(KernelView &view, Value row);

/// Where the packed matrices begin.
Value getPackedRows(KernelView &view);
Value getPackedPanels(KernelView &view);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_PACKFACTORS_H
