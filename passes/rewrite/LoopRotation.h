// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds loops over pre-norm layers whose iterations [N f B +] can become [B + N] f, and says why others cannot. Looks
// at the program only; rewriting is RotatePreNorm's.

#ifndef RESID_PASSES_REWRITE_LOOPROTATION_H
#define RESID_PASSES_REWRITE_LOOPROTATION_H

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <optional>
#include <string>

namespace mlir::resid {

/// A loop body cut in two: the head is what stays in its iteration, the tail goes to the start of the next one.
struct LoopRotation {
  scf::ForOp loop;
  /// Which of the carried values is the stream.
  unsigned stream;
  /// The ops of the tail in the order of the program: branch bias, dropout, the residual add, and what makes their
  /// parameters from the loop's counter and from above.
  SmallVector<Operation *> tail;
  /// The ops of the head in the order of the program. What makes parameters for both stands in both.
  SmallVector<Operation *> head;
  /// What the tail reads of its iteration: the stream before the add, the branch, and parameters that depend on more
  /// than the loop's counter.
  llvm::SetVector<Value> carried;
};

/// Why a loop that looks like one over layers is not rotated.
struct RotationRefusal {
  Operation *op;              ///< the loop
  std::string reason;         ///< lower case, no full stop
  Operation *place = nullptr; ///< the op that stands in the way, if that is the reason
};

/// The loops below `root` that provably run at least once.
llvm::DenseSet<Operation *> findLoopsThatRun(Operation *root);

/// How to rotate `loop`. Where it carries a stream through residual adds but must not be rotated, the reasons are
/// appended to `refusals`; a loop that carries none, or whose iterations begin with the add already, needs no reason.
std::optional<LoopRotation> findLoopRotation(scf::ForOp loop, bool runsAtLeastOnce,
                                             SmallVectorImpl<RotationRefusal> &refusals);

} // namespace mlir::resid

#endif // RESID_PASSES_REWRITE_LOOPROTATION_H
