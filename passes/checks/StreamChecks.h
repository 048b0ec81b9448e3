// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the field knows as mistakes around a residual stream, and in the programs that have one, one function each. They
// look at the program and emit warnings, each with the place and the mend; they change nothing.

#ifndef RESID_PASSES_CHECKS_STREAMCHECKS_H
#define RESID_PASSES_CHECKS_STREAMCHECKS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::resid {

/// Dropout on the stream after a residual add, a norm on the skip path, a branch that does not depend on the stream, a
/// stream that an add drops.
/// `module` has no fused ops.
void checkSubLayers(ModuleOp module);

/// Stacks of blocks whose placement wants a final norm and that end without one; flat sub-layers are not seen.
void checkFinalNorms(ModuleOp module);

/// Several streams that leave a stack without a read, norms of each stream, constant mixes that are singular, and
/// coefficients that never learn. `module` has no blocks.
void checkConnections(ModuleOp module);

/// Dropout sites that draw one mask twice in a forward, also through calls and loops. `module` has neither fused ops
/// nor blocks.
void checkDropoutSites(ModuleOp module);

/// Sums, and whatever else of linalg, that read what nobody wrote: an output without a fill. `module` is as it is
/// written.
void checkUnfilled(ModuleOp module);

/// Who reads the stream after a stack.
struct ExitReaders {
  /// Somebody who may normalise it, or carries it on to more sub-layers.
  bool isHandled = false;
  /// Somebody who takes it raw: a result of the program, a linear layer.
  Operation *raw = nullptr;
  /// Whether none of those is a linear layer.
  bool isReturnedOnly = true;
};
ExitReaders findExitReaders(Value end);

/// Self-attention, feed-forward and, in a decoder, cross-attention.
constexpr unsigned kMostSubLayersOfLayer = 3;

/// Emits a warning with a note that tells the mend.
void warn(Location place, const Twine &mistake, const Twine &mend);

} // namespace mlir::resid

#endif // RESID_PASSES_CHECKS_STREAMCHECKS_H
