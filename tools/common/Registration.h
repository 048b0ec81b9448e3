// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What resid adds to a tool of MLIR: dialects with their interfaces, and passes. Does not own upstream's.

#ifndef RESID_TOOLS_COMMON_REGISTRATION_H
#define RESID_TOOLS_COMMON_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::resid::tools {

/// The dialects of programs and of every stage, with what the passes need of them.
void registerDialects(DialectRegistry &registry);

/// All passes and pipelines, by their flags.
void registerPasses();

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_COMMON_REGISTRATION_H
