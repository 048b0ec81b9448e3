// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compile.h"

#include "Describe.h"
#include "codegen/machine/Target.h"
#include "dialect/Placement.h"
#include "tools/common/Parse.h"
#include "tools/flags/Tool.h"
#include "tools/residc/Compiler.h"
#include "tools/residc/SharedLibrary.h"
#include "llvm/Support/thread.h"
#include <mutex>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tools;

/// The linker has variables of the process.
static std::mutex compiling;

static ExitCode compile(const std::string &text, const std::string &name, ArrayRef<const char *> flags,
                        python::Outcome &outcome) {
  llvm::raw_string_ostream messages(outcome.messages);
  llvm::Expected<ResidcOptions> options = parseResidcOptions(flags);
  if (!options)
    return reportMistake(messages, options.takeError());
  DefaultTimingManager timing;
  TimingScope scope = timing.getRootScope();
  Compiler compiler(*options, scope, messages);
  if (ExitCode code = compiler.run(llvm::MemoryBuffer::getMemBufferCopy(text, name)))
    return code;
  for (const auto &[path, contents] : compiler.getFiles())
    outcome.files[path] = contents;
  if (options->emit.source != EmitSource::Code)
    return ExitDone;
  llvm::Expected<std::string> library = linkSharedLibrary(outcome.files[options->output], "");
  if (!library)
    return reportMistake(messages, llvm::toString(library.takeError()), ExitInternal);
  outcome.files[options->output] = std::move(*library);
  outcome.functions = python::describeFunctions(compiler.getSignatures());
  llvm::raw_string_ostream report(outcome.report);
  compiler.getReport().printText(report);
  return ExitDone;
}

python::Outcome python::compileInMemory(const std::string &text, const std::string &name,
                                        const std::vector<std::string> &flags) {
  std::lock_guard<std::mutex> lock(compiling);
  SmallVector<const char *> arguments = {name.c_str()};
  for (const std::string &flag : flags)
    arguments.push_back(flag.c_str());
  Outcome outcome;
  // Programs may be nested deeply, and threads of Python have small stacks.
  llvm::thread worker(std::optional<unsigned>(stackBytes),
                      [&] { outcome.code = compile(text, name, arguments, outcome); });
  worker.join();
  return outcome;
}

std::vector<python::PlacementFacts> python::listPlacements() {
  std::vector<PlacementFacts> placements;
  for (StringRef name : getPlacementNames()) {
    const PlacementRule &rule = getPlacementRule(*symbolizePlacement(name));
    placements.push_back({name.str(), rule.positions.size(), rule.wantsFinalNorm});
  }
  return placements;
}

std::string python::getVersions() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  tools::residc::tool.printVersion(stream);
  return text;
}

std::string python::describeProcessor() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::Expected<std::vector<machine::TargetDescription>> targets = machine::resolveTargets("", "native");
  if (targets)
    machine::printTargets(*targets, stream);
  else
    stream << llvm::toString(targets.takeError());
  return text;
}
