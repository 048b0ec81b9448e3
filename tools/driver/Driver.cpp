// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program that stands after residc, resid-run, resid-tune, resid-reduce and resid-lsp-server: it is the tool by
// whose name it was called, so that LLVM and MLIR are on the disk once. Does not own what a tool does, nor its flags.

#include "tools/common/ExitCodes.h"
#include "tools/driver/Tools.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::resid::tools;

namespace {
struct Tool {
  llvm::StringLiteral name;
  int (*main)(int argc, char **argv);
};
} // namespace

static constexpr Tool tools[] = {
    {"residc", residcMain},
    {"resid-run", residRunMain},
    {"resid-tune", residTuneMain},
    {"resid-reduce", residReduceMain},
    {"resid-lsp-server", residLspServerMain},
};

int main(int argc, char **argv) {
  // A caller may leave out even the name.
  llvm::StringRef name = llvm::sys::path::filename(argc ? argv[0] : "");
  for (const Tool &tool : tools)
    if (name == tool.name)
      return tool.main(argc, argv);
  llvm::errs() << "resid: error: expected to be called as "
               << llvm::join(llvm::map_range(tools, [](const Tool &tool) { return ("'" + tool.name + "'").str(); }),
                             ", ")
               << ", but got '" << name << "'\n";
  return ExitUsage;
}
