// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-tune: measures how a program is best run on this machine, and writes that as a schedule file. Owns the order of
// the steps and what is said about them, which is also the comments of the schedule file; cases, variants and the
// search have files of their own.

#include "codegen/Pipelines.h"
#include "codegen/cpu/choice/ScheduleFile.h"
#include "tools/common/Diagnostics.h"
#include "tools/common/Files.h"
#include "tools/common/InternalError.h"
#include "tools/common/Parse.h"
#include "tools/driver/Tools.h"
#include "tools/flags/Tool.h"
#include "tools/resid-run/CallContext.h"
#include "tools/resid-run/CompiledFunction.h"
#include "tools/resid-run/DescribeMachine.h"
#include "tools/resid-tune/Search.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <csignal>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tune;
using llvm::Error;
using llvm::Expected;
using llvm::formatv;
using run::makeError;
using run::runningHint;

/// One line that is overwritten, where somebody looks on; elsewhere nothing.
static void showProgress(const Progress &progress) {
  if (!llvm::errs().is_displayed())
    return;
  llvm::errs() << formatv("\r\x1b[Kresid-tune: {0} of {1} variants, {2:f0} s: {3}", progress.tried, progress.total,
                          progress.seconds, progress.setting);
  llvm::errs().flush();
}

static void endProgress() {
  if (llvm::errs().is_displayed())
    llvm::errs() << "\r\x1b[K";
}

static std::string printRatio(const Ratio &ratio) {
  return formatv("{0:f3} ({1:f3} to {2:f3})", ratio.median, ratio.low, ratio.high);
}

static std::string printMicroseconds(double seconds) {
  return seconds < 1e-6 ? formatv("{0:f4}", seconds * 1e6) : formatv("{0:f2}", seconds * 1e6);
}

/// What the difference between two times is worth.
static llvm::StringRef judge(const Ratio &ratio) {
  return ratio.isFaster() ? "" : ratio.isSlower() ? ", slower" : ", noise";
}

static std::string describeCalls(const Options &options) {
  std::string threads = options.threads == 1 ? "1 thread"
                        : options.threads    ? std::to_string(options.threads) + " threads"
                                             : "all processors";
  return "measured with " + threads +
         (options.readers ? ", and a reader of the results" : ", and no reader of the results") +
         (options.mode == ProgramMode::Inference ? ", for inference" : "");
}

/// Of the defaults alone, where they are the best.
static std::string describeCase(const SearchResult &result, size_t i) {
  const Comparison &comparison = result.comparison;
  std::string before = printMicroseconds(comparison.getSeconds(i, false));
  if (result.schedule.settings.empty())
    return "  " + result.caseNames[i] + ": " + before + " us";
  Ratio ratio = comparison.getRatio(i);
  bool isSameCode = ratio.low == 1 && ratio.high == 1;
  return "  " + result.caseNames[i] + ": " + (isSameCode ? "the same code" : printRatio(ratio) + judge(ratio).str()) +
         ", " + before + (isSameCode ? "" : " -> " + printMicroseconds(comparison.getSeconds(i, true))) + " us";
}

/// What was measured how, what was tried and found, and what it is worth in each case.
static std::vector<std::string> describe(const SearchResult &result, const Options &options) {
  std::vector<std::string> lines = {describeCalls(options)};
  lines.push_back(formatv("{0} of {1} variants tried, {2} of them the same code; all gave the same bits", result.tried,
                          result.total, result.same));
  if (result.isInterrupted)
    lines.push_back("the search was interrupted");
  else if (result.tried < result.total)
    lines.push_back("the time was over before all were tried; --seconds gives more");
  if (!result.noise.empty())
    lines.push_back("noise: " + result.noise + " was not faster when it was measured again");
  lines.push_back(result.schedule.settings.empty()
                      ? "the defaults are the best that was found; the time of a call:"
                      : "times as fast as the defaults: " + printRatio(result.comparison.getRatio()));
  for (size_t i = 0; i != result.caseNames.size(); ++i)
    lines.push_back(describeCase(result, i));
  return lines;
}

static bool isFile(StringRef output) { return output != "-" && !output.starts_with("/dev/"); }

/// Before anything is measured: what would keep the file from being written in the end.
static Error checkOutput(StringRef output) {
  StringRef folder = llvm::sys::path::parent_path(output);
  std::error_code code = llvm::sys::fs::access(folder.empty() ? "." : folder, llvm::sys::fs::AccessMode::Write);
  if (llvm::sys::fs::is_directory(output))
    code = std::make_error_code(std::errc::is_a_directory);
  return isFile(output) && code ? makeError(resid::tools::ExitFile, "cannot write '" + output + "': " + code.message())
                                : Error::success();
}

/// The file as it is before, if there is one; what is no schedule file is not overwritten.
static Expected<cpu::ScheduleFile> readOutput(StringRef output) {
  if (Error error = checkOutput(output))
    return std::move(error);
  uint64_t bytes = 0;
  if (!isFile(output) || llvm::sys::fs::file_size(output, bytes) || bytes == 0)
    return cpu::ScheduleFile();
  auto buffer = resid::tools::readProgram(output);
  if (!buffer)
    return makeError(resid::tools::ExitFile, llvm::toString(buffer.takeError()));
  auto file = cpu::parseScheduleFile((*buffer)->getBuffer(), output);
  if (!file)
    return makeError(resid::tools::ExitUsage,
                     "expected no output, or a schedule file in its place: " + llvm::toString(file.takeError()));
  return file;
}

static volatile std::sig_atomic_t isInterrupted = 0;

/// The first interrupt ends the search, which writes what it has found. The second one ends the process. Where the
/// caller ignores interrupts they are blocked (FatalSignal.h), and none comes here.
static void takeInterrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { isInterrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

/// Says what becomes of an earlier section.
static void announce(const cpu::ScheduleFile &file, const cpu::ScheduleFile::Section &section) {
  for (const cpu::ScheduleFile::Section &old : file.sections)
    if (old.cpu == section.cpu && !old.schedule.settings.empty())
      llvm::errs() << "  replaced, in the section of the file: " << cpu::printSettings(old.schedule) << "\n";
}

static Expected<std::vector<Case>> findCases(const Options &options, ModuleOp program) {
  return options.table ? makeTableCases(program, options.entry) : makeCases(program, options);
}

static Error writeResult(const Options &options, const SearchResult &result, StringRef cpu, cpu::ScheduleFile &file) {
  cpu::ScheduleFile::Section section{cpu.str(), result.schedule, describe(result, options)};
  llvm::errs() << llvm::formatv("resid-tune: {0}, {1:f1} s\n", cpu, result.seconds);
  for (const std::string &line : section.comments)
    llvm::errs() << "  " << line << "\n";
  for (const cpu::Setting &setting : result.schedule.settings)
    llvm::errs() << "  found " << setting.key << "=" << setting.value << "\n";
  announce(file, section);
  file.put(std::move(section));
  if (Error error = resid::tools::writeOutput(options.output, file.print()))
    return makeError(resid::tools::ExitFile, llvm::toString(std::move(error)));
  return Error::success();
}

static Error tuneProgram(const Options &options, std::unique_ptr<llvm::MemoryBuffer> input,
                         resid::tools::ToolRun &run) {
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
  Expected<cpu::ScheduleFile> file = readOutput(options.output);
  if (!file)
    return file.takeError();
  Expected<machine::TargetDescription> target = machine::resolveTarget("", options.mcpu);
  if (!target)
    return makeError(resid::tools::ExitUsage, "--mcpu: " + llvm::toString(target.takeError()));
  auto calls = run::CallContext::create(options.threads);
  if (!calls)
    return calls.takeError();
  // Warnings about the program are said once, by the compiler.
  ScopedDiagnosticHandler quiet(
      &context, [](Diagnostic &diagnostic) { return success(diagnostic.getSeverity() != DiagnosticSeverity::Error); });
  takeInterrupts();
  run.setHint(runningHint);
  SearchOptions searchOptions{{options.mcpu, options.mode},
                              {&(*calls)->get(), options.readers, &(*calls)->refusal},
                              options.keys,
                              options.seconds,
                              [] { return isInterrupted != 0; }};
  Expected<SearchResult> result = search(*cases, searchOptions, showProgress);
  endProgress();
  if (!result)
    return result.takeError();
  run.setHint(nullptr);
  return writeResult(options, *result, target->cpu, *file);
}

static int report(Error error, const resid::tools::ToolRun *run = nullptr) {
  return run::reportError("resid-tune", std::move(error), run);
}

static int runTune(const Options &options, ArrayRef<const char *> arguments) {
  Expected<bool> isDone = run::describeMachine(resid::tools::resid_tune::tool, options.mcpu, options.verbose,
                                               !options.input.empty() || options.table);
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
  return run.guard([&] { return report(tuneProgram(options, std::move(*input), run), &run); });
}

int mlir::resid::tools::residTuneMain(int argc, char **argv) {
  startTool("resid-tune");
  ArrayRef<const char *> arguments(argv + 1, argc - 1);
  Expected<Options> options = tune::parseOptions(arguments);
  if (!options)
    return report(options.takeError());
  return resid_tune::tool.printAsked(options->help, options->version) ? ExitDone : runTune(*options, arguments);
}
