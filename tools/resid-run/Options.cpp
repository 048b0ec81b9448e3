// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-run/Options.h"

#include "tools/common/Files.h"
#include "tools/flags/CommandLine.h"
#include <cmath>

namespace mlir::resid::run {

using namespace tools::resid_run;
using llvm::Error;
using llvm::StringRef;
using tools::CommandLine;

char RunError::ID;

Error makeError(tools::ExitCode code, const llvm::Twine &message) {
  return llvm::make_error<RunError>(code, message.str());
}

int reportError(StringRef tool, Error error, const tools::ToolRun *run) {
  int code = tools::ExitDone;
  // What was printed before the error shall stand before it.
  llvm::outs().flush();
  llvm::handleAllErrors(
      std::move(error),
      [&](const RunError &runError) {
        code = runError.code;
        if (run && code == tools::ExitInternal)
          run->report(runError.message.c_str());
        else if (!runError.message.empty())
          llvm::errs() << tool << ": error: " << runError.message << '\n';
      },
      [&](const llvm::ErrorInfoBase &other) {
        code = tools::ExitUsage;
        llvm::errs() << tool << ": error: " << other.message() << '\n';
      });
  return code;
}

namespace {

Error parseCount(const CommandLine &line, FlagID flag, StringRef name, unsigned limit, unsigned &result) {
  StringRef value = line.getValue(flag);
  if (line.has(flag) && (value.getAsInteger(10, result) || result > limit))
    return tools::makeUsageError(name + ": expected a number from 0 to " + llvm::Twine(limit) + ", but got '" + value +
                                 "'");
  return Error::success();
}

Error parseTolerance(const CommandLine &line, FlagID flag, StringRef name, std::optional<double> &result) {
  StringRef value = line.getValue(flag);
  if (!line.has(flag))
    return Error::success();
  double number = 0;
  if (value.getAsDouble(number) || !(number >= 0) || std::isinf(number))
    return tools::makeUsageError(name + ": expected a number of 0 or more, but got '" + value + "'");
  result = number;
  return Error::success();
}

Error parseNumbers(const CommandLine &line, Options &options) {
  Error error = parseCount(line, OPT_repeat, "--repeat", 1000000, options.repeat);
  if (!error)
    error = parseCount(line, OPT_threads, "--threads", 1024, options.threads);
  if (!error)
    error = parseCount(line, OPT_row_padding, "--row-padding", 1 << 20, options.rowPadding);
  if (!error)
    error = parseTolerance(line, OPT_rtol, "--rtol", options.rtol);
  if (!error)
    error = parseTolerance(line, OPT_atol, "--atol", options.atol);
  return error;
}

/// N or NAME=N.
Error parseSizes(const CommandLine &line, Options &options) {
  for (const std::string &text : line.getValues(OPT_size)) {
    StringRef value = text;
    auto [name, number] = value.contains('=') ? value.split('=') : std::pair(StringRef(), value);
    SizeOption size{name.str(), 0};
    if (number.getAsInteger(10, size.size) || size.size < 0 || (name.empty() && value.contains('=')))
      return tools::makeUsageError("--size: expected N or NAME=N, such as x_dim0=4, but got '" + value + "'");
    if (llvm::any_of(options.sizes, [&](const SizeOption &other) { return other.name == size.name; }))
      return tools::makeUsageError("--size: expected each size once, but got '" + value + "' beside another");
    options.sizes.push_back(std::move(size));
  }
  return Error::success();
}

Error setSchedule(const CommandLine &line, Options &options) {
  StringRef value = line.getValue(OPT_schedule);
  if (!line.has(OPT_schedule))
    return Error::success();
  if (value.starts_with("@"))
    return tools::makeUsageError("expected --schedule=KEY=VALUE[,...], but got '" + value + "'");
  llvm::Expected<tools::ScheduleFlag> schedule = tools::parseScheduleFlag(value, options.backend == Options::CUDA);
  if (!schedule)
    return tools::makeUsageError(llvm::toString(schedule.takeError()));
  options.schedule = std::move(*schedule);
  return Error::success();
}

/// Flags that would change nothing beside the others.
Error checkTogether(const CommandLine &line, const Options &options) {
  for (auto [flag, name] : {std::pair(OPT_rtol, "--rtol"), std::pair(OPT_atol, "--atol")})
    if (line.has(flag) && options.check == Options::NoCheck)
      return tools::makeUsageError(llvm::Twine("expected --check beside ") + name + ", but got none");
  bool makesArguments = options.arguments.empty() && (options.check != Options::NoCheck || options.repeat != 0);
  if (!options.sizes.empty() && !makesArguments)
    return tools::makeUsageError("expected --size beside --check or --repeat without --arg, but got '" +
                                 llvm::Twine(line.getValue(OPT_size)) + "' beside " +
                                 (options.arguments.empty() ? "neither" : "an --arg, which has sizes of its own"));
  if (options.weights.empty() && line.has(OPT_weights_prefix))
    return tools::makeUsageError("expected --weights beside --weights-prefix, but got none");
  if (options.backend == Options::CUDA && line.has(OPT_threads))
    return tools::makeUsageError("expected no --threads beside --backend=cuda, but got '" + line.getValue(OPT_threads) +
                                 "'");
  if (options.inPlace && options.repeat != 0)
    return tools::makeUsageError("expected no --repeat beside --in-place, which leaves other arguments, but got '" +
                                 llvm::Twine(options.repeat) + "'");
  if (options.backend != Options::Reference)
    return Error::success();
  if (options.inPlace)
    return tools::makeUsageError(
        "expected no --in-place beside --backend=reference, which has no buffers, but got one");
  for (auto [flag, name] :
       {std::pair(OPT_threads, "--threads"), std::pair(OPT_mcpu, "--mcpu"), std::pair(OPT_raise, "--raise"),
        std::pair(OPT_schedule, "--schedule"), std::pair(OPT_relax_rounding, "--relax-rounding")})
    if (line.has(flag) && options.mcpu != "help")
      return tools::makeUsageError(llvm::Twine("expected no ") + name + " beside --backend=reference, which compiles " +
                                   "nothing and runs on one thread, but got '" + line.getValue(flag) + "'");
  if (options.check == Options::CheckExactType)
    return tools::makeUsageError("expected --check=wide beside --backend=reference, but got --check, which would "
                                 "compare the evaluator with itself");
  return Error::success();
}

/// What is wrong is a message for exit code 2, or for 4 where it is not_supported.
llvm::Expected<Options> parse(llvm::ArrayRef<const char *> arguments) {
  llvm::Expected<CommandLine> line = CommandLine::parse(tool, arguments);
  if (!line)
    return line.takeError();
  Options options;
  options.help = line->has(OPT_help);
  options.version = line->has(OPT_version);
  options.verbose = line->has(OPT_verbose);
  options.inPlace = line->has(OPT_in_place);
  options.entry = line->getValue(OPT_entry).str();
  if (line->has(OPT_mcpu))
    options.mcpu = line->getValue(OPT_mcpu).str();
  options.arguments = line->getValues(OPT_arg);
  options.outputs = line->getValues(OPT_out);
  options.weights = line->getValue(OPT_weights).str();
  options.weightsPrefix = line->getValue(OPT_weights_prefix).str();
  line->choose(OPT_raise, options.raise);
  options.backend = line->getValue(OPT_backend) == "reference" ? Options::Reference
                    : line->getValue(OPT_backend) == "cuda"    ? Options::CUDA
                                                               : Options::CPU;
  options.relaxesProducts = line->has(OPT_relax_rounding) && options.backend == Options::CUDA;
  if (line->has(OPT_check) && line->has(OPT_check_EQ))
    return tools::makeUsageError("expected --check once, but got '--check' and '--check=wide'");
  options.check = line->has(OPT_check_EQ) ? Options::CheckWide
                  : line->has(OPT_check)  ? Options::CheckExactType
                                          : Options::NoCheck;
  if (Error error = parseNumbers(*line, options))
    return std::move(error);
  if (Error error = parseSizes(*line, options))
    return std::move(error);
  if (Error error = setSchedule(*line, options))
    return std::move(error);
  if (Error error = checkTogether(*line, options))
    return std::move(error);
  llvm::Expected<std::optional<CommandLine::Input>> input = line->getInput(OPT_INPUT);
  if (!input)
    return input.takeError();
  if (options.help || options.version || options.mcpu == "help" || (options.verbose && !*input))
    return options;
  if (!*input)
    return tools::makeUsageError("expected an input file, but got none; resid-run --help shows examples");
  options.input = (*input)->path;
  options.inputIndex = (*input)->index;
  llvm::SmallVector<StringRef> outputs(options.outputs.begin(), options.outputs.end());
  for (StringRef file : {options.input, options.weights})
    if (Error error = tools::checkOutputs(file, outputs))
      return tools::makeUsageError(llvm::toString(std::move(error)));
  return options;
}

} // namespace

llvm::Expected<Options> parseOptions(llvm::ArrayRef<const char *> arguments) {
  llvm::Expected<Options> options = parse(arguments);
  if (options)
    return options;
  Error result = Error::success();
  llvm::handleAllErrors(options.takeError(), [&](const llvm::StringError &error) {
    bool isKnown = error.convertToErrorCode() == std::errc::not_supported;
    result = llvm::joinErrors(std::move(result),
                              makeError(isKnown ? tools::ExitUnavailable : tools::ExitUsage, error.getMessage()));
  });
  return std::move(result);
}

} // namespace mlir::resid::run
