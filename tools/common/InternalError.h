// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a tool says and keeps when resid itself is at fault.

#ifndef RESID_TOOLS_COMMON_INTERNALERROR_H
#define RESID_TOOLS_COMMON_INTERNALERROR_H

#include "tools/common/ExitCodes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::resid::tools {

/// Writes `program`, the text that `tool` failed on, to a file of the working folder and prints the line that runs it
/// again; `arguments` are the tool's, of which `input` named the program.
ExitCode reportInternalError(llvm::StringRef tool, llvm::StringRef input, llvm::StringRef program,
                             llvm::ArrayRef<const char *> arguments);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_COMMON_INTERNALERROR_H
