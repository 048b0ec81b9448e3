// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// residc: parses flags, reads a program, runs the compiler on it and writes the files that come out.

#include "tools/common/Files.h"
#include "tools/common/InternalError.h"
#include "tools/common/Parse.h"
#include "tools/driver/Tools.h"
#include "tools/flags/Tool.h"
#include "tools/residc/Compiler.h"
#include "llvm/Support/BuryPointer.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tools;

namespace {

/// The table of --time. Wall time alone, in milliseconds and as a part of the whole. MLIR's own table has a column of
/// user time, which on one thread is the wall time again, and counts the whole twice.
class TimeReport : public OutputStrategy {
public:
  using OutputStrategy::OutputStrategy;

  void printHeader(const TimeRecord &total) override {
    os << llvm::format("time: %.1f ms\n\n", total.wall * 1e3) << "         ms   part  stage\n";
  }
  void printFooter() override { os.flush(); }
  void printTime(const TimeRecord &time, const TimeRecord &total) override {
    double part = total.wall > 0 ? 100 * time.wall / total.wall : 0;
    os << llvm::format("%11.2f %5.1f%%  ", time.wall * 1e3, part);
  }
  void printListEntry(StringRef name, const TimeRecord &time, const TimeRecord &total, bool) override {
    printTime(time, total);
    os << name << '\n';
  }
  void printTreeEntry(unsigned indent, StringRef name, const TimeRecord &time, const TimeRecord &total) override {
    printTime(time, total);
    os.indent(indent) << name << '\n';
  }
  void printTreeEntryEnd(unsigned, bool) override {}
};

/// Everything is computed before the first file is touched. A program that is refused has a report at most.
int compileToFiles(Compiler &compiler, std::unique_ptr<llvm::MemoryBuffer> input) {
  ExitCode code = compiler.run(std::move(input));
  if (code != ExitDone && code != ExitUnavailable)
    return code;
  if (llvm::Error error = writeOutputs(compiler.getFiles()))
    return reportMistake(llvm::errs(), llvm::toString(std::move(error)), ExitFile);
  return code;
}

/// -v and --mcpu=help. Nothing where the program is to be compiled after it.
std::optional<ExitCode> describeMachine(const ResidcOptions &options) {
  if (options.mcpu == "help") {
    llvm::Expected<std::vector<std::string>> names = machine::listCPUs(options.triple);
    if (!names)
      return reportMistake(llvm::errs(), names.takeError());
    for (const std::string &name : *names)
      llvm::outs() << name << "\n";
    return ExitDone;
  }
  if (!options.verbose)
    return std::nullopt;
  tools::residc::tool.printVersion(llvm::errs());
  llvm::Expected<std::vector<machine::TargetDescription>> targets =
      machine::resolveTargets(options.triple, options.mcpu);
  if (!targets)
    return reportMistake(llvm::errs(), targets.takeError());
  machine::printTargets(*targets, llvm::errs());
  return options.input.empty() ? std::optional(ExitDone) : std::nullopt;
}

int runResidc(const ResidcOptions &options, ArrayRef<const char *> arguments) {
  if (std::optional<ExitCode> code = describeMachine(options))
    return *code;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> input = readProgram(options.input);
  if (!input)
    return reportMistake(llvm::errs(), llvm::toString(input.takeError()), ExitFile);
  ToolRun run("residc", arguments, options.inputIndex);
  run.setProgram((*input)->getBuffer());
  DefaultTimingManager timingManager;
  timingManager.setEnabled(options.time);
  timingManager.setOutput(std::make_unique<TimeReport>(llvm::errs()));
  TimingScope timing = timingManager.getRootScope();
  auto compiler = std::make_unique<Compiler>(options, timing, llvm::errs());
  int code = run.guard([&] { return compileToFiles(*compiler, std::move(*input)); });
  // The process ends, and taking contexts and modules apart would be a part of its time.
  llvm::BuryPointer(std::move(compiler));
  timing.stop();
  return code == ExitInternal ? run.report("a stage broke its own rules") : code;
}

} // namespace

/// The one thread that allocates much is not the first one, to which glibc would give an arena that grows page by page.
static void tuneAllocator() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TOP_PAD, 16 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 16 << 20);
#endif
}

int mlir::resid::tools::residcMain(int argc, char **argv) {
  startTool("residc");
  tuneAllocator();
  ArrayRef<const char *> arguments(argv + 1, argc - 1);
  llvm::Expected<ResidcOptions> options = parseResidcOptions(arguments);
  if (!options)
    return reportMistake(llvm::errs(), options.takeError());
  return tools::residc::tool.printAsked(options->help, options->version) ? ExitDone : runResidc(*options, arguments);
}
