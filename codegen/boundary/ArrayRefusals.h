// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What F says where its arrays or sizes are refused: each check of ArrayChecks.cpp by itself, with a text. Nothing of
// it runs where a call is good.

#ifndef RESID_CODEGEN_BOUNDARY_ARRAYREFUSALS_H
#define RESID_CODEGEN_BOUNDARY_ARRAYREFUSALS_H

#include "codegen/boundary/EntryCode.h"

namespace mlir::resid::boundary {

/// Builds the function of F that takes the context, the status for which F found a reason, and these words, and answers
/// the status.
void buildArrayRefusals(Operation *place, const KernelSignature &signature);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_ARRAYREFUSALS_H
