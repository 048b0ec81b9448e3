// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-run/DescribeMachine.h"

#include "codegen/machine/Target.h"
#include "tools/resid-run/Options.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::resid::run {

llvm::Expected<bool> describeMachine(const tools::ToolDescription &tool, llvm::StringRef mcpu, bool verbose,
                                     bool hasProgram) {
  if (mcpu == "help") {
    llvm::Expected<std::vector<std::string>> names = machine::listCPUs("");
    if (!names)
      return makeError(tools::ExitUnavailable, llvm::toString(names.takeError()));
    for (const std::string &name : *names)
      llvm::outs() << name << "\n";
    return true;
  }
  if (!verbose)
    return false;
  tool.printVersion(llvm::errs());
  llvm::Expected<std::vector<machine::TargetDescription>> targets = machine::resolveTargets("", mcpu);
  if (!targets)
    return makeError(tools::ExitUsage, "--mcpu: " + llvm::toString(targets.takeError()));
  machine::printTargets(*targets, llvm::errs());
  return !hasProgram;
}

} // namespace mlir::resid::run
