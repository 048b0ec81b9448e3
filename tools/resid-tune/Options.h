// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the flags of resid-tune mean; the table of flags is tools/flags/resid-tune.td. Measures nothing.

#ifndef RESID_TOOLS_RESID_TUNE_OPTIONS_H
#define RESID_TOOLS_RESID_TUNE_OPTIONS_H

#include "passes/Passes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir::resid::tune {

/// Sizes of the largest arrays of a call, outermost first.
using Shape = std::vector<int64_t>;

struct Options {
  /// Where `input` stands on the command line.
  unsigned inputIndex = 0;
  /// `input` is empty with `table`. `mcpu` may be "help".
  std::string input, output = "-", mcpu = "native", entry;
  std::vector<Shape> shapes;
  /// Keys of the schedule to try; all where empty.
  std::vector<std::string> keys;
  ProgramMode mode = ProgramMode::Training;
  /// 0: as many as there are processors.
  unsigned threads = 1;
  double seconds = 60;
  bool table = false, readers = true;
  /// Whether to say version and target first. Without an input that is all there is to do.
  bool verbose = false;
  bool help = false, version = false;
};

/// Parses the command line without the program's name. An error is a message for exit code 2.
llvm::Expected<Options> parseOptions(llvm::ArrayRef<const char *> arguments);

/// As it is written in --shapes.
std::string print(const Shape &shape);

} // namespace mlir::resid::tune

#endif // RESID_TOOLS_RESID_TUNE_OPTIONS_H
