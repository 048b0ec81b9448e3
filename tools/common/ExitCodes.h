// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exit codes that every tool keeps to. Documented for users in docs/errors.md.

#ifndef RESID_TOOLS_COMMON_EXITCODES_H
#define RESID_TOOLS_COMMON_EXITCODES_H

namespace mlir::resid::tools {

enum ExitCode : int {
  ExitDone = 0,
  ExitProgram = 1,     // the program or its arguments are wrong; a check failed
  ExitUsage = 2,       // wrong flags or argument count
  ExitFile = 3,        // a file cannot be read or written
  ExitUnavailable = 4, // valid, but this target, type combination, layout or device is not available
  ExitMemory = 5,      // out of memory
  ExitInternal = 70,   // a mistake in resid itself
};

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_COMMON_EXITCODES_H
