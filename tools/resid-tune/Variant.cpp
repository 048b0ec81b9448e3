// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a schedule to code that can be called; see Variant.h.

#include "tools/resid-tune/Variant.h"

using namespace mlir;
using namespace mlir::resid;
using llvm::Error;
using llvm::Expected;

static Error loadFunction(tune::VariantFunction &function) {
  auto internal = [](Error error) {
    return run::makeError(tools::ExitInternal, "cannot load the compiled object: " + llvm::toString(std::move(error)));
  };
  Expected<run::LoadedObject> loaded = run::LoadedObject::load(function.compiled.object);
  if (!loaded)
    return internal(loaded.takeError());
  function.loaded = std::make_shared<run::LoadedObject>(std::move(*loaded));
  Expected<run::LoadedObject::PackedFunction> entry = function.loaded->lookUp(function.compiled.signature.symbol);
  if (!entry)
    return internal(entry.takeError());
  function.entry = *entry;
  return Error::success();
}

Expected<tune::Variant> tune::makeVariant(llvm::ArrayRef<Case> cases, const cpu::Schedule &schedule,
                                          const VariantOptions &options, const Variant *like) {
  Expected<std::vector<machine::TargetDescription>> targets = machine::resolveTargets("", options.mcpu);
  if (!targets)
    return run::makeError(tools::ExitUsage, "--mcpu: " + llvm::toString(targets.takeError()));
  if (Error error = targets->front().facts.use(schedule))
    return std::move(error);
  Variant variant{schedule, {}};
  for (auto [index, one] : llvm::enumerate(cases)) {
    if (index && cases[index - 1].function == one.function) {
      variant.functions.push_back(variant.functions.back());
      continue;
    }
    Expected<run::CompiledFunction> compiled = run::compileFunction(one.function, *targets, options.mode);
    if (!compiled)
      return compiled.takeError();
    VariantFunction function{std::move(*compiled), nullptr, nullptr};
    if (like && function.isSameCode(like->functions[index]))
      function = like->functions[index];
    else if (Error error = loadFunction(function))
      return std::move(error);
    variant.functions.push_back(std::move(function));
  }
  return variant;
}
