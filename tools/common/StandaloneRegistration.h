// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tools that carry MLIR in themselves know of upstream's dialects and passes. Does not own what residc
// compiles (codegen/Pipelines.h), nor resid-opt, which knows everything.

#ifndef RESID_TOOLS_COMMON_STANDALONEREGISTRATION_H
#define RESID_TOOLS_COMMON_STANDALONEREGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::resid::tools {

/// The dialects of the compiler, and those in which programs come to it or that upstream's passes make of them.
/// Dialects of single machines are not among them: they bring code generators that resid has no use for, and double the
/// tool.
void registerStandaloneDialects(DialectRegistry &registry);

/// All passes and pipelines of resid, and upstream's passes over the dialects that the compiler takes.
void registerStandalonePasses();

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_COMMON_STANDALONEREGISTRATION_H
