// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --dump-stages: the program after each stage, as numbered files of one folder. Does not own which stages there are.

#ifndef RESID_TOOLS_RESIDC_STAGEDUMP_H
#define RESID_TOOLS_RESIDC_STAGEDUMP_H

#include "codegen/Pipelines.h"
#include <string>

namespace mlir::resid::tools {

/// The module as a file of its own.
std::string print(ModuleOp module);

class StageDump {
public:
  /// Writes nothing if `folder` is empty.
  explicit StageDump(llvm::StringRef folder) : folder(folder) {}
  bool isWanted() const { return !folder.empty(); }
  /// Makes the folder where there is none.
  void open();

  void add(llvm::StringRef stage, ModuleOp module);
  /// Optimised LLVM IR and its assembly.
  void add(const CompiledModule &compiled);
  /// Why a file could not be written, after which no more are; empty if all went well.
  const std::string &getFailure() const { return failure; }

private:
  void write(llvm::StringRef name, llvm::StringRef text);

  std::string folder, failure;
  unsigned stages = 0;
};

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESIDC_STAGEDUMP_H
