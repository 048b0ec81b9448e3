// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reproducers; see InternalError.h.

#include "tools/common/InternalError.h"

#include "tools/common/Files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace mlir::resid;

tools::ExitCode tools::reportInternalError(StringRef tool, StringRef input, StringRef program,
                                           ArrayRef<const char *> arguments) {
  std::string path = "resid-crash-" + utohexstr(xxh3_64bits(program)) + ".mlir";
  std::string rerun = tool.str();
  for (StringRef argument : arguments)
    rerun += " " + (argument == input ? path : argument.str());
  if (Error error = writeOutput(path, program))
    errs() << tool << ": error: " << toString(std::move(error)) << "\n";
  errs() << tool << ": error: internal error; please report it with the file '" << path << "', which reproduces it:\n  "
         << rerun << "\n";
  return ExitInternal;
}
