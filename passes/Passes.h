// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes from resid to resid, their registration and the pipeline made of them. What each pass does stands in
// Passes.td.

#ifndef RESID_PASSES_PASSES_H
#define RESID_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"

#include "passes/Choices.h.inc"

namespace mlir::resid {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

/// On a module: what resid-quantize-linear did or saw, with `given` or `observe` (Passes.td). An array of a dictionary
/// for each weight.
constexpr llvm::StringLiteral kQuantizedAttribute = "resid.quantized";

/// Choices of the user that the passes from resid to resid depend on.
struct ResidPassOptions {
  ProgramMode mode = ProgramMode::Training;
  /// Emit remarks where a pass fires and where it refuses, with the reason.
  bool report = false;
};

/// Appends the passes every program goes through before it is lowered: quantised results are expanded, in
/// inference mode dropout is removed, then blocks are expanded, canonical forms, common subexpressions, and fusion of
/// residual adds with norms. None of them changes a rounding. `manager` may be anchored on a module or on a function.
void buildResidPassPipeline(OpPassManager &manager, const ResidPassOptions &options);

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

/// Registers the pipeline above as `resid-passes`, with the options `mode=training|inference` and `report`.
void registerResidPipelines();

} // namespace mlir::resid

#endif // RESID_PASSES_PASSES_H
