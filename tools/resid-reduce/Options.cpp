// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-reduce/Options.h"

#include "tools/common/Files.h"
#include "tools/flags/CommandLine.h"

using namespace mlir::resid::tools;
using namespace mlir::resid::tools::resid_reduce;

llvm::Expected<ReduceOptions> mlir::resid::tools::parseReduceOptions(llvm::ArrayRef<const char *> arguments) {
  llvm::Expected<CommandLine> line = CommandLine::parse(tool, arguments);
  if (!line)
    return line.takeError();
  ReduceOptions options;
  options.help = line->has(OPT_help);
  options.version = line->has(OPT_version);
  if (line->has(OPT_output))
    options.output = line->getValue(OPT_output).str();
  options.test = line->getValue(OPT_test).str();
  options.testArguments = line->getValues(OPT_test_arg);
  options.passes = line->getValue(OPT_passes).str();
  llvm::Expected<std::optional<CommandLine::Input>> input = line->getInput(OPT_INPUT);
  if (!input)
    return input.takeError();
  if (options.help || options.version)
    return options;
  if (!*input)
    return makeUsageError("expected an input file, but got none; resid-reduce --help shows examples");
  if (options.test.empty())
    return makeUsageError("expected --test=PROGRAM, but got none");
  options.input = (*input)->path;
  options.inputIndex = (*input)->index;
  if (llvm::Error error = checkOutputs(options.input, {options.output}))
    return makeUsageError(llvm::toString(std::move(error)));
  return options;
}
