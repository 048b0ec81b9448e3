// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-tune/Variant.h"

#include "codegen/cpu/Target.h"

using namespace mlir;
using namespace mlir::resid;
using llvm::Error;
using llvm::Expected;

Expected<tune::Variant> tune::makeVariant(llvm::ArrayRef<Case> cases, const cpu::Schedule &schedule,
                                          const VariantOptions &options, const Variant *like) {
  Expected<std::vector<machine::TargetDescription>> targets = machine::resolveTargets("", options.mcpu);
  if (!targets)
    return run::makeError(tools::ExitUsage, "--mcpu: " + llvm::toString(targets.takeError()));
  if (Error error = targets->front().facts.use(schedule))
    return std::move(error);
  auto target = cpu::makeTarget(std::move(*targets));
  Variant variant{schedule, {}};
  for (auto [index, one] : llvm::enumerate(cases)) {
    if (index && cases[index - 1].function == one.function) {
      variant.functions.push_back(variant.functions.back());
      continue;
    }
    Expected<run::CompiledFunction> compiled = run::compileFunction(one.function, target, options.mode);
    if (!compiled)
      return compiled.takeError();
    if (like && compiled->object == like->functions[index].compiled.object) {
      variant.functions.push_back(like->functions[index]);
      continue;
    }
    Expected<run::LoadedFunction> loaded = run::loadFunction(*compiled);
    if (!loaded)
      return loaded.takeError();
    variant.functions.push_back({std::move(*compiled), std::move(*loaded)});
  }
  return variant;
}
