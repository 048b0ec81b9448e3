// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-run: compiles a function in memory and runs it on arrays. Owns the order of the steps; flags, arrays, backends
// and the comparison have files of their own.

#include "codegen/Pipelines.h"
#include "dialect/FunctionAttributes.h"
#include "reference/Evaluator.h"
#include "tools/common/Diagnostics.h"
#include "tools/common/Files.h"
#include "tools/common/InternalError.h"
#include "tools/common/Parse.h"
#include "tools/driver/Tools.h"
#include "tools/flags/Tool.h"
#include "tools/resid-run/Backend.h"
#include "tools/resid-run/Check.h"
#include "tools/resid-run/CompiledFunction.h"
#include "tools/resid-run/DescribeMachine.h"
#include "tools/resid-run/MadeArguments.h"
#include "tools/resid-run/WeightFile.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"
#include <chrono>

using namespace mlir;
using namespace mlir::resid::run;
using llvm::Error;
using llvm::Expected;

static Expected<func::FuncOp> findEntry(const Options &options, ModuleOp module) {
  SmallVector<func::FuncOp> found;
  std::string names;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || !function.isPublic())
      continue;
    if (options.entry == function.getName())
      return function;
    found.push_back(function);
    names += (names.empty() ? "'" : ", '") + function.getName().str() + "'";
  }
  if (options.entry.empty() && found.size() == 1)
    return found.front();
  std::string what = options.entry.empty() ? "--entry: expected the name of a public function"
                                           : "--entry: expected a public function but got '" + options.entry + "'";
  return makeError(resid::tools::ExitUsage, what + "; " + options.input + " has " + (names.empty() ? "none" : names));
}

static bool hasStridedArrays(func::FuncOp entry) {
  auto hasAttribute = [](ArrayAttr values) {
    return values && llvm::any_of(values.getAsRange<DictionaryAttr>(),
                                  [](DictionaryAttr value) { return value.contains(resid::kStridedAttribute); });
  };
  return hasAttribute(entry.getArgAttrsAttr()) || hasAttribute(entry.getResAttrsAttr());
}

/// That there is one --arg for each argument that is not read from a file, and no more --out than results.
static Error checkCounts(const Options &options, func::FuncOp entry, const BitVector &fromFile) {
  if (options.rowPadding != 0 && !hasStridedArrays(entry))
    return makeError(resid::tools::ExitUsage,
                     "expected a function with resid.strided arrays beside --row-padding, but '" + entry.getName() +
                         "' has none");
  if (!options.weights.empty() && fromFile.none())
    return makeError(resid::tools::ExitUsage,
                     "expected a function with resid.weight arguments beside --weights, but '" + entry.getName() +
                         "' has none");
  unsigned wanted = entry.getNumArguments() - fromFile.count();
  if (options.arguments.size() != wanted && !makesArguments(options))
    return makeError(resid::tools::ExitUsage, "expected one --arg per argument of '" + entry.getName() + "'" +
                                                  (fromFile.any() ? " that --weights does not fill" : "") + ", " +
                                                  Twine(wanted) + ", but got " + Twine(options.arguments.size()) +
                                                  (options.arguments.empty() ? "; --check makes some up" : ""));
  if (options.outputs.size() > entry.getNumResults())
    return makeError(resid::tools::ExitUsage, "expected at most one --out per result of '" + entry.getName() + "', " +
                                                  Twine(entry.getNumResults()) + ", but got " +
                                                  Twine(options.outputs.size()));
  return Error::success();
}

/// The arguments that are in the file of weights.
static Error readWeights(const Options &options, func::FuncOp entry, const BitVector &fromFile,
                         std::vector<std::optional<Array>> &known) {
  if (fromFile.none())
    return Error::success();
  Expected<WeightFile> file = WeightFile::open(options.weights, options.weightsPrefix);
  if (!file)
    return file.takeError();
  for (unsigned index : fromFile.set_bits()) {
    Expected<Array> weight = file->read(entry, index);
    if (!weight)
      return weight.takeError();
    known[index] = std::move(*weight);
  }
  if (options.verbose)
    file->printUse(llvm::errs());
  return Error::success();
}

static Expected<std::vector<Array>> readArguments(const Options &options, func::FuncOp entry) {
  BitVector fromFile(entry.getNumArguments());
  for (unsigned index = 0; index != fromFile.size() && !options.weights.empty(); ++index)
    fromFile[index] = resid::getWeightName(entry, index).has_value();
  if (Error error = checkCounts(options, entry, fromFile))
    return std::move(error);
  std::vector<std::optional<Array>> known(fromFile.size());
  if (Error error = readWeights(options, entry, fromFile, known))
    return std::move(error);
  std::vector<std::string> texts = options.arguments;
  if (makesArguments(options)) {
    Expected<std::vector<std::string>> made = makeArguments(options, entry, known, llvm::errs());
    if (!made)
      return made.takeError();
    texts = std::move(*made);
  }
  std::vector<Array> arguments;
  auto text = texts.begin();
  for (unsigned index = 0; index != known.size(); ++index) {
    Expected<Array> argument = known[index] ? std::move(*known[index]) : readArgument(entry, index, *text++);
    if (!argument)
      return argument.takeError();
    arguments.push_back(std::move(*argument));
  }
  return arguments;
}

/// Prints one line per result; an error where one is beyond its bound.
static Error check(const Options &options, func::FuncOp entry, ArrayRef<Array> arguments, ArrayRef<Array> results,
                   bool hasFMA) {
  bool unsupported = false, ok = true, wide = options.check == Options::CheckWide;
  resid::reference::EvaluationOptions evaluation{wide ? resid::reference::Mode::Wide
                                                      : resid::reference::Mode::ExactType,
                                                 /*trackAccuracy=*/true, &unsupported, hasFMA, options.relaxesProducts};
  FailureOr<SmallVector<Array>> expected = resid::reference::evaluate(entry, arguments, evaluation);
  if (failed(expected))
    return makeError(unsupported ? resid::tools::ExitUnavailable : resid::tools::ExitProgram, "");
  Tolerances tolerances = getTolerances(options, entry);
  for (auto [i, found] : llvm::enumerate(results))
    ok &= checkResult(llvm::outs(), i, found, (*expected)[i], wide, tolerances);
  if (ok)
    return Error::success();
  // What is equal in real arithmetic may begin a sum elsewhere, and a product has no bound but its own bits.
  bool mayHelp = options.raise == resid::RaiseLevel::All && !wide;
  return makeError(resid::tools::ExitProgram,
                   mayHelp ? "the check failed; what --raise=all raises may have other bits, which --check=wide allows"
                           : "the check failed");
}

/// What a GPU gives has the bits of the CPU, in place too.
static Error compareWithCPU(Options options, func::FuncOp entry, ArrayRef<Array> arguments, ArrayRef<Array> results) {
  options.inPlace = false;
  options.schedule.ofCPUs.stores = resid::cpu::StoreKind::Plain; // no bit hangs on it, and there is less to compile
  Expected<std::unique_ptr<Backend>> backend = makeCPUBackend(entry, arguments, options);
  if (!backend)
    return backend.takeError();
  if (Error error = (*backend)->run())
    return error;
  bool isEqual = true;
  for (auto [i, expected] : llvm::enumerate((*backend)->getResults()))
    isEqual &= compareBits(llvm::outs(), i, results[i], expected);
  return isEqual ? Error::success()
                 : makeError(resid::tools::ExitProgram, "the check failed: expected the bits of the CPU");
}

/// Runs again and again; compulsory bytes are those of all tensors, each read or written once.
static Error measure(const Options &options, Backend &backend, ArrayRef<Array> arguments, ArrayRef<Array> results) {
  std::vector<double> seconds;
  for (unsigned i = 0; i != options.repeat; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (Error error = backend.run())
      return error;
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  llvm::sort(seconds);
  double median = seconds[seconds.size() / 2];
  int64_t bytes = 0;
  for (ArrayRef<Array> arrays : {arguments, results})
    for (const Array &array : arrays)
      bytes += array.isTensor() ? getByteSize(array) : 0;
  llvm::outs() << llvm::format("median of %u: %.3f us, %.2f GB/s of %lld compulsory bytes\n", options.repeat,
                               median * 1e6, static_cast<double>(bytes) / median * 1e-9, static_cast<long long>(bytes));
  return Error::success();
}

static Expected<std::unique_ptr<Backend>> makeBackend(const Options &options, func::FuncOp entry,
                                                      ArrayRef<Array> arguments) {
  if (options.backend == Options::CPU)
    return makeCPUBackend(entry, arguments, options);
  if (options.backend == Options::CUDA)
    return makeCUDABackend(entry, arguments, options);
  return makeReferenceBackend(entry, arguments);
}

static Error runProgram(const Options &options, std::unique_ptr<llvm::MemoryBuffer> input, resid::tools::ToolRun &run) {
  DialectRegistry registry;
  resid::registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // Messages name the place; the op in generic form after them helps nobody.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  resid::tools::DiagnosticPrinter printer(sources, context);
  OwningOpRef<ModuleOp> module = resid::tools::parseModule(std::move(input), sources, context);
  if (!module)
    return makeError(resid::tools::ExitProgram, "");
  Expected<func::FuncOp> entry = findEntry(options, *module);
  if (!entry)
    return entry.takeError();
  Expected<std::vector<Array>> arguments = readArguments(options, *entry);
  if (!arguments)
    return arguments.takeError();
  if (Error error = warnOfMistakes(*module))
    return error;
  Expected<std::unique_ptr<Backend>> backend = makeBackend(options, *entry, *arguments);
  if (!backend)
    return backend.takeError();
  run.setHint(options.backend == Options::CPU ? runningHint : nullptr);
  if (Error error = (*backend)->run())
    return error;
  run.setHint(nullptr);
  std::vector<Array> results = (*backend)->getResults();
  if (options.check != Options::NoCheck)
    if (Error error = check(options, *entry, *arguments, results, (*backend)->hasFMA()))
      return error;
  if (options.check != Options::NoCheck && options.backend == Options::CUDA && !options.relaxesProducts)
    if (Error error = compareWithCPU(options, *entry, *arguments, results))
      return error;
  if (options.repeat)
    if (Error error = measure(options, **backend, *arguments, results))
      return error;
  for (size_t i = options.outputs.size(); i != results.size(); ++i)
    printSummary(llvm::outs(), i, results[i]);
  return writeResults(results, options.outputs);
}

static int report(Error error, const resid::tools::ToolRun *run = nullptr) {
  return reportError("resid-run", std::move(error), run);
}

/// Runs so that a crash of the compiler, or of what it compiled, leaves a reproducer.
static int runSafely(const Options &options, ArrayRef<const char *> arguments) {
  Expected<bool> isDone =
      describeMachine(resid::tools::resid_run::tool, options.mcpu, options.verbose, !options.input.empty());
  if (!isDone)
    return report(isDone.takeError());
  if (*isDone)
    return report(Error::success());
  auto input = resid::tools::readProgram(options.input);
  if (!input)
    return report(makeError(resid::tools::ExitFile, llvm::toString(input.takeError())));
  resid::tools::ToolRun run("resid-run", arguments, options.inputIndex);
  run.setProgram((*input)->getBuffer());
  return run.guard([&] { return report(runProgram(options, std::move(*input), run), &run); });
}

int mlir::resid::tools::residRunMain(int argc, char **argv) {
  resid::tools::startTool("resid-run");
  ArrayRef<const char *> arguments = ArrayRef<const char *>(argv, argc).drop_front();
  Expected<Options> options = parseOptions(arguments);
  if (!options)
    return report(options.takeError());
  if (resid::tools::resid_run::tool.printAsked(options->help, options->version))
    return report(Error::success());
  return runSafely(*options, arguments);
}
