// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing of resid-run's flags. By hand, since LLVM's flag parser brings the flags of every library that is linked and
// an exit code of its own.

#include "tools/resid-run/Options.h"

#include "tools/common/Files.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cmath>

namespace mlir::resid::run {

using llvm::Error;
using llvm::StringRef;

char RunError::ID;

Error makeError(tools::ExitCode code, const llvm::Twine &message) {
  return llvm::make_error<RunError>(code, message.str());
}

const char *const helpText = R"(resid-run: compiles a function in memory and runs it on arrays

usage: resid-run IN.mlir [--entry=F] --arg=ARRAY ... [--out=FILE.npy ...] [flags]

  IN.mlir              the program; - is standard input
  --entry=F            the function to run (default: the only public one)
  --arg=ARRAY          one per argument, in order:
                         x.npy                   a NumPy file (bfloat16 as <u2 or |V2)
                         f32[4x512]=random:1     normal values from seed 1
                         f32[4x512]=random:1*0.1 the same times 0.1
                         f32[4x512]=0.5          one value everywhere
                         f32[2x2]=1,2,3,4        all values
                         3, 0.5, true            a scalar
  --out=FILE.npy       one per result, in order; results without one are summarised
  --backend=cpu        compile and run the machine code (default)
  --backend=reference  run the reference evaluator instead
  --mcpu=CPU           what to compile for (default: native)
  --threads=N          threads to run on, 0 for all processors (default: 1)
  --row-padding=N      elements between the rows of arrays that are resid.strided (default: 0); that the function writes
                       one of them is an internal error
  --check              compare with the reference evaluator, print the largest error of each result and fail beyond
                       the bounds
  --check=wide         compare with the evaluator that rounds nothing on the way, by --rtol and --atol
  --rtol=R, --atol=A   tolerances where no bound holds, such as a norm after a norm (default: 1e-5, or 4 units in the
                       last place at 1 of the narrowest float type in the function where that is more)
  --repeat=N           run N more times, print the median time and GB/s of compulsory bytes
  --help, --version

examples:
  resid-run block.mlir --entry=post_norm --arg=x.npy --arg=f.npy --arg=gamma.npy --arg=beta.npy --arg=1 --arg=0 --out=y.npy
  resid-run block.mlir --arg=f32[32x768]=random:1 --arg=f32[32x768]=random:2 --check
  resid-run block.mlir --arg=bf16[4096x768]=random:1 --arg=bf16[768]=1 --repeat=100 --threads=0

exit codes: 0 done; 1 the program or its arguments are wrong, or a check failed; 2 wrong flags or argument count; 3 a file
cannot be read or written; 4 not available on this target or backend; 5 out of memory; 70 internal error
)";

namespace {

template <typename Number> Error parseCount(StringRef flag, StringRef value, Number limit, Number &result) {
  if (value.getAsInteger(10, result) || result > limit)
    return makeError(tools::ExitUsage,
                     flag + ": expected a number from 0 to " + llvm::Twine(limit) + " but got '" + value + "'");
  return Error::success();
}

Error parseTolerance(StringRef flag, StringRef value, std::optional<double> &result) {
  double number = 0;
  if (value.getAsDouble(number) || !(number >= 0) || std::isinf(number))
    return makeError(tools::ExitUsage, flag + ": expected a number of 0 or more but got '" + value + "'");
  result = number;
  return Error::success();
}

Error parseChoice(StringRef flag, StringRef value, StringRef expected) {
  return makeError(tools::ExitUsage, flag + ": expected " + expected + " but got '" + value + "'");
}

Error parseText(StringRef flag, StringRef value, std::string &result) {
  if (value.empty())
    return makeError(tools::ExitUsage, flag + ": expected a value, as in " + flag + "=…");
  if (!result.empty() && flag == "--entry")
    return makeError(tools::ExitUsage, flag + ": expected once but got it twice");
  result = value.str();
  return Error::success();
}

Error parseFlag(StringRef flag, bool hasValue, StringRef value, Options &options) {
  if (!hasValue && flag == "--help")
    return options.help = true, Error::success();
  if (!hasValue && flag == "--version")
    return options.version = true, Error::success();
  if (flag == "--check") {
    if (hasValue && value != "wide")
      return parseChoice(flag, value, "nothing or 'wide'");
    options.check = hasValue ? Options::CheckWide : Options::CheckExactType;
    return Error::success();
  }
  if (flag == "--backend") {
    if (value == "cuda")
      return makeError(tools::ExitUnavailable, "--backend=cuda is not available in this version");
    if (value != "cpu" && value != "reference")
      return parseChoice(flag, value, "'cpu' or 'reference'");
    options.backend = value == "cpu" ? Options::CPU : Options::Reference;
    return Error::success();
  }
  if (flag == "--entry")
    return parseText(flag, value, options.entry);
  if (flag == "--mcpu")
    return parseText(flag, value, options.mcpu);
  if (flag == "--arg")
    return parseText(flag, value, options.arguments.emplace_back());
  if (flag == "--out")
    return parseText(flag, value, options.outputs.emplace_back());
  if (flag == "--repeat")
    return parseCount(flag, value, 1000000u, options.repeat);
  if (flag == "--threads")
    return parseCount(flag, value, 1024u, options.threads);
  if (flag == "--row-padding")
    return parseCount(flag, value, 1u << 20, options.rowPadding);
  if (flag == "--rtol")
    return parseTolerance(flag, value, options.rtol);
  if (flag == "--atol")
    return parseTolerance(flag, value, options.atol);
  return makeError(tools::ExitUsage, "unknown flag '" + flag + "', see --help");
}

} // namespace

llvm::Expected<Options> parseOptions(llvm::ArrayRef<const char *> arguments) {
  Options options;
  for (auto [index, text] : llvm::enumerate(arguments)) {
    StringRef argument = text;
    if (argument.starts_with("-") && argument != "-") {
      auto [flag, value] = argument.split('=');
      if (Error error = parseFlag(flag, argument.contains('='), value, options))
        return std::move(error);
      continue;
    }
    if (!options.input.empty())
      return makeError(tools::ExitUsage, "expected one input but got '" + options.input + "' and '" + argument + "'");
    options.input = argument.str();
    options.inputIndex = index;
  }
  if (options.input.empty() && !options.help && !options.version)
    return makeError(tools::ExitUsage, "expected an input file, see --help");
  if (Error error = tools::checkOutputs(options.input, llvm::SmallVector<StringRef>(options.outputs.begin(), options.outputs.end())))
    return makeError(tools::ExitUsage, llvm::toString(std::move(error)));
  return options;
}

} // namespace mlir::resid::run
