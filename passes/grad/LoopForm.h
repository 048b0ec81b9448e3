// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that have gradients: what goes into them and comes out, and how often they run.

#ifndef RESID_PASSES_GRAD_LOOPFORM_H
#define RESID_PASSES_GRAD_LOOPFORM_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/grad/Gradients.h"

namespace mlir::resid {

/// The values through which gradients enter and leave the body.
struct LoopSources {
  LoopSources(scf::ForOp loop, const DenseSet<Value> &needed, const Forward &forward);

  SmallVector<Value> getAll() const;

  scf::ForOp loop;
  /// The numbers of the carries that have gradients.
  SmallVector<unsigned> carries;
  /// What the body reads from outside.
  SmallVector<Value> captured;
};

/// Iterations are counted from 0 in slots.
struct LoopBounds {
  static FailureOr<LoopBounds> find(scf::ForOp loop);

  int64_t lower, step;
  /// How often the loop runs, as the forward has it.
  OpFoldResult count;
};

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_LOOPFORM_H
