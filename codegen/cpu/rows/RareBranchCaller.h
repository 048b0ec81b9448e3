// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs rows on vectors, with calls in place of rare branches. Not: which branches those are, and how they are called
// (kernels/RareBranches.h).

#ifndef RESID_CODEGEN_CPU_ROWS_RAREBRANCHCALLER_H
#define RESID_CODEGEN_CPU_ROWS_RAREBRANCHCALLER_H

#include "codegen/cpu/rows/VectorRows.h"
#include "codegen/rows/RareBranches.h"

namespace mlir::resid::cpu {

class RareBranchCaller : public VectorRowEmitter {
public:
  /// Functions that are not in `rare` yet are made where they are first called.
  RareBranchCaller(VectorFunction &function, const IRMapping &mapping, RowMemory &memory, VectorPrefetches &prefetches,
                   rows::RareFunctions &rare)
      : VectorRowEmitter(function, mapping, memory, prefetches), rare(rare) {}

private:
  void emitBranch(Block &block) override;

  rows::RareFunctions &rare;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_RAREBRANCHCALLER_H
