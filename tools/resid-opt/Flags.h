// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of resid-opt, which LLVM's cl::opt parses: its help with resid's passes first, and messages about wrong
// flags in the words of the other tools. Runs no pass.

#ifndef RESID_TOOLS_RESID_OPT_FLAGS_H
#define RESID_TOOLS_RESID_OPT_FLAGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace mlir::resid::tools {

/// Whether the arguments, without the tool's name, ask for help. cl::opt would print all flags in one list.
bool asksForHelp(llvm::ArrayRef<const char *> arguments);

/// Requires that all flags are registered. The passes are printed by upstream's code, which knows standard output
/// alone.
void printOptHelp();

/// What is wrong with arguments that cl::opt would take: a flag that has one value is given twice, or without it. Empty
/// where nothing is.
std::string describeWrongValues(llvm::ArrayRef<const char *> arguments);

/// What is wrong with arguments that cl::opt has refused with `message`.
std::string describeWrongFlags(llvm::ArrayRef<const char *> arguments, llvm::StringRef message);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESID_OPT_FLAGS_H
