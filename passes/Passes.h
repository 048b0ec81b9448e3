// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes from resid to resid, their registration and the pipeline made of them. What each pass does stands in
// Passes.td.

#ifndef RESID_PASSES_PASSES_H
#define RESID_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"

#include "passes/connection/ConnectionKinds.h.inc"

namespace mlir::resid {

/// Which norm a sub-layer has after a conversion of the norm placement: the one it had, or its neighbour's. Auto shifts
/// where that is bit-exact and keeps elsewhere.
enum class NormMapping { Auto, Keep, Shift };

/// Where a final norm comes from that a placement wants and a program does not have: new arguments, or nowhere.
enum class FinalNormSource { Arguments, Identity };

/// What is raised to ops of resid: nothing, what has the same bits, or also what is the same in real arithmetic.
enum class RaiseLevel { Off, Exact, All };

/// What differentiation makes of F: F_forward and F_backward, or one function F_value_and_grad.
enum class GradMode { Split, ValueAndGrad };

/// What the forward hands to the backward: the carries of loops alone, and everything else is computed again; what is
/// expensive to compute; or all that the backward reads.
enum class GradSave { Min, Default, All };

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

/// The level by its name as in flags; Exact where that is empty.
RaiseLevel readRaiseLevel(StringRef name);

/// What is saved, by its name as in flags; Default where that is empty.
GradSave readGradSave(StringRef name);

/// What a program is compiled for: in inference, dropout is the identity.
enum class ProgramMode { Training, Inference };

/// Choices of the user that the passes from resid to resid depend on.
struct ResidPassOptions {
  ProgramMode mode = ProgramMode::Training;
  /// Emit remarks where a pass fires and where it refuses, with the reason.
  bool report = false;
};

/// Appends the passes every program goes through before it is lowered: in inference mode dropout is removed, then
/// blocks are expanded, canonical forms, common subexpressions, and fusion of residual adds with norms. None of them
/// changes a rounding. `manager` may be anchored on a module or on a function.
void buildResidPassPipeline(OpPassManager &manager, const ResidPassOptions &options);

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

/// Registers the pipeline above as `resid-passes`, with the options `mode=training|inference` and `report`.
void registerResidPipelines();

} // namespace mlir::resid

#endif // RESID_PASSES_PASSES_H
