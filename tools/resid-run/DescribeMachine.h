// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tools that compile and call say about the machine: -v and --mcpu=help.

#ifndef RESID_TOOLS_RESID_RUN_DESCRIBEMACHINE_H
#define RESID_TOOLS_RESID_RUN_DESCRIBEMACHINE_H

#include "tools/flags/Tool.h"
#include "llvm/Support/Error.h"

namespace mlir::resid::run {

/// Prints the names of all CPUs where `mcpu` is "help", else with `verbose` the tool's version and what is compiled
/// for. Returns whether that is all there is to do; `hasProgram` says whether there is a program.
llvm::Expected<bool> describeMachine(const tools::ToolDescription &tool, llvm::StringRef mcpu, bool verbose,
                                     bool hasProgram);

} // namespace mlir::resid::run

#endif
