// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What residc checks of --grad and --wrt once the program is known. Does not differentiate.

#ifndef RESID_TOOLS_RESIDC_GRADIENTFLAGS_H
#define RESID_TOOLS_RESIDC_GRADIENTFLAGS_H

#include "mlir/IR/BuiltinOps.h"
#include "tools/residc/Options.h"
#include <optional>
#include <string>

namespace mlir::resid::tools {

/// What is wrong with the function or the arguments that the flags name, in the program as it is written; nothing where
/// nothing is wrong, or no gradient is asked for.
std::optional<std::string> findGradientMistake(ModuleOp program, const ResidcOptions &options);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESIDC_GRADIENTFLAGS_H
