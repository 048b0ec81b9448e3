// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs the factors of a contraction into scratch memory (contractions/PanelMemory.h).

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_PACKFACTORS_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_PACKFACTORS_H

#include "codegen/cpu/contractions/KernelView.h"

namespace mlir::resid::cpu {

/// Copies the rows [low, high) of all matrices a, in the arithmetic type.
void emitPackedRows(KernelView &view, Value low, Value high);

/// So many panels of b, fewer at the end of a matrix, are packed as one.
inline constexpr int64_t kPackedPanels = 8;
/// How many such groups a matrix has.
Value countPanelGroups(LoopCode &code, const contraction::PanelMemory &memory);
/// Copies the groups [low, high) of panels of all matrices b.
void emitPackedPanels(KernelView &view, Value low, Value high);

/// Where the packed matrices begin.
Value getPackedRows(KernelView &view);
Value getPackedPanels(KernelView &view);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_PACKFACTORS_H
