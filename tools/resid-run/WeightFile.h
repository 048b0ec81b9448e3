// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file of --weights, read by the runtime's own reader: what it has for the arguments that are marked as weights.
// Does not own which arguments these are (dialect/FunctionAttributes.h).

#ifndef RESID_TOOLS_RESID_RUN_WEIGHTFILE_H
#define RESID_TOOLS_RESID_RUN_WEIGHTFILE_H

#include "runtime/resid_runtime.h"
#include "tools/resid-run/Arrays.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::resid::run {

class WeightFile {
public:
  /// `prefix` stands in front of the names in the file, or of some of them.
  static llvm::Expected<WeightFile> open(llvm::StringRef path, llvm::StringRef prefix);

  /// The array of the argument, which is marked. An error names it, what was expected and what the file has.
  llvm::Expected<Array> read(func::FuncOp function, unsigned index);
  /// How many tensors were read, and the names of others.
  void printUse(llvm::raw_ostream &stream) const;

private:
  struct Close {
    void operator()(resid_weights *weights) const { resid_weights_close(weights); }
  };

  std::string path;
  std::unique_ptr<resid_weights, Close> weights;
  llvm::StringSet<> used;
};

} // namespace mlir::resid::run

#endif
