// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-tune: measures how a program is best run on this machine, and writes that as a schedule file. Owns the order of
// the steps and what is said about them; cases, variants and the search have files of their own.

#include "codegen/Pipelines.h"
#include "codegen/cpu/choice/ScheduleFile.h"
#include "tools/common/Diagnostics.h"
#include "tools/common/Files.h"
#include "tools/common/InternalError.h"
#include "tools/common/Parse.h"
#include "tools/driver/Tools.h"
#include "tools/flags/Tool.h"
#include "tools/resid-tune/Search.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tune;
using llvm::Error;
using llvm::Expected;
using run::makeError;

/// One line that is overwritten, where somebody looks on; elsewhere nothing.
static void showProgress(const Progress &progress) {
  if (!llvm::errs().is_displayed())
    return;
  llvm::errs() << "\r\x1b[K"
               << llvm::format("resid-tune: %u of %u variants, %.0f s: ", progress.tried, progress.total,
                               progress.seconds)
               << progress.setting;
  llvm::errs().flush();
}

static void endProgress() {
  if (llvm::errs().is_displayed())
    llvm::errs() << "\r\x1b[K";
}

static std::string formatRatio(const Ratio &ratio) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3f (%.3f to %.3f)", ratio.median, ratio.low, ratio.high);
  return text;
}

/// What the differences between two times are worth.
static StringRef judge(const Ratio &ratio) { return ratio.isFaster() ? "" : ratio.isSlower() ? ", slower" : ", noise"; }

static std::string formatTimes(const Comparison &comparison, size_t i) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.2f -> %.2f us", comparison.getSeconds(i, false) * 1e6,
                                                 comparison.getSeconds(i, true) * 1e6);
  return text;
}

/// Lines for people: what was tried, what was found, and what it is worth in each case.
static std::vector<std::string> describe(const SearchResult &result, const Options &options) {
  std::vector<std::string> lines;
  std::string tried = std::to_string(result.tried) + " of " + std::to_string(result.total) + " variants tried, " +
                      std::to_string(result.same) + " of them the same code; all gave the same bits";
  lines.push_back(tried);
  std::string threads = options.threads == 1 ? "1 thread"
                        : options.threads    ? std::to_string(options.threads) + " threads"
                                             : "all processors";
  lines.push_back("measured with " + threads +
                  (options.readers ? ", and a reader of the results" : ", and no reader of the results"));
  if (result.tried < result.total)
    lines.push_back("the time was over before all were tried; --seconds gives more");
  if (!result.noise.empty())
    lines.push_back("noise: " + result.noise + " was not faster when it was measured again");
  if (result.schedule.settings.empty()) {
    lines.push_back("the defaults are the best that was found");
    return lines;
  }
  lines.push_back("times as fast as the defaults: " + formatRatio(result.comparison.getRatio()));
  for (auto [i, name] : llvm::enumerate(result.caseNames)) {
    Ratio ratio = result.comparison.getRatio(i);
    bool isSameCode = result.comparison.getSeconds(i, false) == 1.0;
    lines.push_back("  " + name + ": " +
                    (isSameCode ? "the same code"
                                : formatRatio(ratio) + judge(ratio).str() + ", " + formatTimes(result.comparison, i)));
  }
  return lines;
}

/// The file as it is before, if there is one; what is no schedule file is not overwritten.
static Expected<cpu::ScheduleFile> readOutput(const Options &options) {
  if (options.output == "-" || !llvm::sys::fs::is_regular_file(options.output))
    return cpu::ScheduleFile();
  auto buffer = resid::tools::readInput(options.output);
  if (!buffer)
    return makeError(resid::tools::ExitFile, llvm::toString(buffer.takeError()));
  auto file = cpu::parseScheduleFile((*buffer)->getBuffer(), options.output);
  if (!file)
    return makeError(resid::tools::ExitUsage, llvm::toString(file.takeError()));
  return file;
}

namespace {
/// The context of the calls, with the runtime's threads.
class Calls {
public:
  explicit Calls(unsigned threads) {
    if (threads != 1 && resid_thread_pool_create(static_cast<int32_t>(threads), &pool) != RESID_OK)
      pool = nullptr;
    isReady = threads == 1 || pool;
    resid_ctx_init(&context, pool);
  }
  ~Calls() { resid_thread_pool_destroy(pool); }
  Calls(const Calls &) = delete;
  Calls &operator=(const Calls &) = delete;

  bool isReady;
  resid_ctx context;

private:
  resid_thread_pool *pool = nullptr;
};
} // namespace

static Expected<std::vector<Case>> findCases(const Options &options, ModuleOp program) {
  return options.table ? makeTableCases(program, options.entry) : makeCases(program, options);
}

static Error tuneProgram(const Options &options, std::unique_ptr<llvm::MemoryBuffer> input) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  resid::tools::DiagnosticPrinter printer(sources, context);
  OwningOpRef<ModuleOp> program = resid::tools::parseModule(std::move(input), sources, context);
  if (!program)
    return makeError(resid::tools::ExitProgram, "");
  Expected<std::vector<Case>> cases = findCases(options, *program);
  if (!cases)
    return cases.takeError();
  Expected<cpu::ScheduleFile> file = readOutput(options);
  if (!file)
    return file.takeError();
  Expected<machine::TargetDescription> target = machine::resolveTarget("", options.mcpu);
  if (!target)
    return makeError(resid::tools::ExitUsage, "--mcpu: " + llvm::toString(target.takeError()));
  Calls calls(options.threads);
  if (!calls.isReady)
    return makeError(resid::tools::ExitMemory, "--threads: cannot make " + Twine(options.threads) + " threads");
  // Warnings about the program are said once, by the compiler.
  ScopedDiagnosticHandler quiet(
      &context, [](Diagnostic &diagnostic) { return success(diagnostic.getSeverity() != DiagnosticSeverity::Error); });
  SearchOptions searchOptions{
      {options.mcpu, options.mode}, {&calls.context, options.readers}, options.keys, options.seconds};
  Expected<SearchResult> result = search(*cases, searchOptions, showProgress);
  endProgress();
  if (!result)
    return result.takeError();
  cpu::ScheduleFile::Section section{target->cpu, result->schedule, describe(*result, options)};
  llvm::errs() << "resid-tune: " << target->cpu << ", " << llvm::format("%.1f s", result->seconds) << "\n";
  for (const std::string &line : section.comments)
    llvm::errs() << "  " << line << "\n";
  for (const cpu::Setting &setting : result->schedule.settings)
    llvm::errs() << "  found " << setting.key << "=" << setting.value << "\n";
  file->put(std::move(section));
  if (Error error = resid::tools::writeOutput(options.output, file->print()))
    return makeError(resid::tools::ExitFile, llvm::toString(std::move(error)));
  return Error::success();
}

/// Reports `error` and gives its exit code. A mistake in resid is reported by `run`.
static int report(Error error, const resid::tools::ToolRun *run = nullptr) {
  int code = resid::tools::ExitDone;
  llvm::handleAllErrors(
      std::move(error),
      [&](const run::RunError &runError) {
        code = runError.code;
        if (run && code == resid::tools::ExitInternal)
          run->report(runError.message.c_str());
        else if (!runError.message.empty())
          llvm::errs() << "resid-tune: error: " << runError.message << '\n';
      },
      [&](const llvm::ErrorInfoBase &other) {
        code = resid::tools::ExitUsage;
        llvm::errs() << "resid-tune: error: " << other.message() << '\n';
      });
  return code;
}

/// -v and --mcpu=help; whether there is nothing to be measured after it.
static Expected<bool> describeMachine(const Options &options) {
  if (options.mcpu == "help") {
    Expected<std::vector<std::string>> names = machine::listCPUs("");
    if (!names)
      return makeError(resid::tools::ExitUnavailable, llvm::toString(names.takeError()));
    for (const std::string &name : *names)
      llvm::outs() << name << "\n";
    return true;
  }
  if (!options.verbose)
    return false;
  resid::tools::resid_tune::tool.printVersion(llvm::errs());
  Expected<std::vector<machine::TargetDescription>> targets = machine::resolveTargets("", options.mcpu);
  if (!targets)
    return makeError(resid::tools::ExitUsage, "--mcpu: " + llvm::toString(targets.takeError()));
  machine::printTargets(*targets, llvm::errs());
  return options.input.empty() && !options.table;
}

static int runTune(const Options &options, ArrayRef<const char *> arguments) {
  Expected<bool> isDone = describeMachine(options);
  if (!isDone)
    return report(isDone.takeError());
  if (*isDone)
    return resid::tools::ExitDone;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> input =
      options.table ? llvm::MemoryBuffer::getMemBufferCopy(getTableText(), "the table")
                    : resid::tools::readProgram(options.input);
  if (!input)
    return report(makeError(resid::tools::ExitFile, llvm::toString(input.takeError())));
  std::optional<unsigned> place = options.table ? std::nullopt : std::optional(options.inputIndex);
  resid::tools::ToolRun run("resid-tune", arguments, place);
  run.setProgram((*input)->getBuffer());
  return run.guard([&] { return report(tuneProgram(options, std::move(*input)), &run); });
}

int mlir::resid::tools::residTuneMain(int argc, char **argv) {
  startTool("resid-tune");
  ArrayRef<const char *> arguments(argv + 1, argc - 1);
  Expected<Options> options = tune::parseOptions(arguments);
  if (!options)
    return report(options.takeError());
  if (options->help)
    resid_tune::tool.printHelp(llvm::outs());
  else if (options->version)
    resid_tune::tool.printVersion(llvm::outs());
  else
    return runTune(*options, arguments);
  return ExitDone;
}
