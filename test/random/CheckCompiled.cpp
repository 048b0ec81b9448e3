// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/Pipelines.h"
#include "test/random/Check.h"
#include "tools/resid-run/Backend.h"
#include "tools/resid-run/Check.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace mlir::resid::random {

double getSpacing(func::FuncOp function) {
  double spacing = 0x1p-52;
  auto widen = [&](Type type) {
    if (auto kind = reference::getFloatKind(getElementTypeOrSelf(type)))
      spacing = std::max(spacing, reference::unitInLastPlace(*kind, 1.0));
  };
  llvm::for_each(function.getArgumentTypes(), widen);
  function->getParentOp()->walk([&](Operation *op) { llvm::for_each(op->getResultTypes(), widen); });
  return spacing;
}

/// The module as the compiler sees it after the passes from resid to resid, as text; empty where they fail.
static std::string getLowered(func::FuncOp function) {
  OwningOpRef<ModuleOp> module(function->getParentOfType<ModuleOp>().clone());
  return runResidStages(*module, CompileOptions()) ? std::string() : printModule(*module);
}

/// Compiles and runs once.
static llvm::Expected<Results> runCompiled(func::FuncOp function, const std::vector<Array> &arguments) {
  auto backend = run::makeCPUBackend(function, arguments, run::Options());
  if (!backend)
    return backend.takeError();
  if (llvm::Error error = (*backend)->run())
    return std::move(error);
  return (*backend)->getResults();
}

/// The results by machine code; `isUnavailable`: the program is none for this backend.
static std::optional<Results> runCompiled(func::FuncOp function, const Arguments &arguments, bool &isUnavailable,
                                          std::string &message) {
  isUnavailable = false;
  FailureOr<std::vector<Array>> bound = arguments.bind(function);
  if (failed(bound)) {
    message = "arguments that do not fit";
    return std::nullopt;
  }
  llvm::Expected<Results> results = runCompiled(function, *bound);
  if (results)
    return std::move(*results);
  llvm::handleAllErrors(results.takeError(), [&](const run::RunError &error) {
    isUnavailable = error.code == tools::ExitUnavailable;
    message = "exit code " + std::to_string(error.code) + " " + error.message;
  });
  return std::nullopt;
}

/// Machine code against the evaluator, by the bounds of resid-run --check. Where one norm feeds another these are a
/// rule of thumb; a program that multiplies roundings is judged by how much it does.
static std::optional<std::string> checkBounds(func::FuncOp function, const Arguments &arguments, const Results &found,
                                              Counts &counts) {
  FailureOr<Results> expected = evaluate(function, arguments, /*trackAccuracy=*/true);
  if (failed(expected))
    return "cannot be evaluated";
  run::Tolerances tolerances = run::getTolerances(run::Options(), function);
  std::string text;
  llvm::raw_string_ostream stream(text);
  bool ok = found.size() == expected->size();
  for (size_t i = 0; ok && i != found.size(); ++i)
    ok = run::checkResult(stream, i, found[i], (*expected)[i], /*wide=*/false, tolerances);
  ++counts.boundedComparisons;
  if (ok)
    return std::nullopt;
  double spacing = getSpacing(function);
  auto moved = measureSensitivity(function, arguments, spacing);
  if (failed(moved))
    return text;
  ++counts.sensitive;
  auto difference = compareBounded(*expected, found, [&](size_t r, int64_t i) {
    const Array &result = (*expected)[r];
    if (!result.getAccuracy())
      return 0.0;
    return tolerances.atol + tolerances.rtol * std::fabs(result.floats()[i]) + 64 * (*moved)[r][i];
  });
  return difference ? std::optional(text) : std::nullopt;
}

std::optional<std::string> checkCompiled(func::FuncOp before, func::FuncOp after, const Arguments &arguments,
                                         bool isBitExact, Counts &counts) {
  bool isUnavailable;
  std::string message;
  std::optional<Results> first = runCompiled(before, arguments, isUnavailable, message);
  if (!first && isUnavailable) {
    ++counts.unavailable;
    return std::nullopt;
  }
  if (!first)
    return "before the rewrites: " + message;
  ++counts.compiled;
  // The compiler makes the same code of the same text, so that compiling it again would show nothing.
  std::string lowered = getLowered(before);
  bool isSame = !lowered.empty() && lowered == getLowered(after);
  counts.compiledAlike += isSame;
  std::optional<Results> last = isSame ? first : runCompiled(after, arguments, isUnavailable, message);
  if (!last)
    return "after the rewrites: " + message;
  if (isBitExact)
    if (auto difference = compareBits(*first, *last))
      return "other bits: " + *difference;
  if (auto difference = checkBounds(before, arguments, *first, counts))
    return "beside the evaluator, before the rewrites: " + *difference;
  if (!isBitExact)
    if (auto difference = checkBounds(after, arguments, *last, counts))
      return "beside the evaluator, after the rewrites: " + *difference;
  return std::nullopt;
}

} // namespace mlir::resid::random
