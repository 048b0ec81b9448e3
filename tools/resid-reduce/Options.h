// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the flags of resid-reduce mean; the table of flags is tools/flags/resid-reduce.td. Reduces nothing.

#ifndef RESID_TOOLS_RESID_REDUCE_OPTIONS_H
#define RESID_TOOLS_RESID_REDUCE_OPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir::resid::tools {

struct ReduceOptions {
  std::string input, output = "-", test, passes;
  std::vector<std::string> testArguments;
  /// Where `input` stands on the command line.
  unsigned inputIndex = 0;
  bool help = false, version = false;
};

/// Parses the command line without the program's name. An error is a message for exit code 2.
llvm::Expected<ReduceOptions> parseReduceOptions(llvm::ArrayRef<const char *> arguments);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESID_REDUCE_OPTIONS_H
