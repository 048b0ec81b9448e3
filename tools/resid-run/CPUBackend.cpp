// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backend that compiles in memory with the default pipeline, loads the object and calls it on the runtime's
// threads.

#include "codegen/cpu/Target.h"
#include "tools/resid-run/Backend.h"
#include "tools/resid-run/CallContext.h"
#include "tools/resid-run/CompiledFunction.h"
#include "tools/resid-run/KernelCall.h"

namespace mlir::resid::run {

using llvm::Error;
using llvm::Expected;

namespace {

class CPUBackend : public Backend {
public:
  CPUBackend(LoadedFunction loaded, std::unique_ptr<KernelCall> call, std::unique_ptr<CallContext> context, bool hasFMA)
      : function(std::move(loaded)), call(std::move(call)), context(std::move(context)), isFused(hasFMA) {}

  Error run() override {
    context->refusal.clear();
    resid_status status = call->call(function.entry, context->get());
    if (status == RESID_OK && !call->arePaddingsIntact())
      return makeError(tools::ExitInternal, "internal error: the compiled function wrote between the rows of an array");
    if (status == RESID_OK)
      return Error::success();
    std::string answer = std::string("the compiled function answered ") + resid_status_string(status);
    return makeError(getExitCode(status), context->refusal.empty() ? answer : answer + "; " + context->refusal);
  }
  std::vector<Array> getResults() override { return call->getResults(); }
  bool hasFMA() const override { return isFused; }

private:
  LoadedFunction function;
  std::unique_ptr<KernelCall> call;
  std::unique_ptr<CallContext> context;
  bool isFused;
};

} // namespace

Expected<std::unique_ptr<Backend>> makeCPUBackend(func::FuncOp function, llvm::ArrayRef<Array> arguments,
                                                  const Options &options) {
  auto targets = machine::resolveTargets("", options.mcpu);
  if (!targets)
    return makeError(tools::ExitUsage, "--mcpu: " + llvm::toString(targets.takeError()));
  for (machine::TargetDescription &target : *targets)
    if (Error error = target.facts.use(options.schedule.ofCPUs))
      return makeError(tools::ExitUsage, "--schedule: " + target.cpu + ": " + llvm::toString(std::move(error)));
  bool hasFMA = llvm::all_of(*targets, [](const machine::TargetDescription &target) { return target.facts.hasFMA; });
  Expected<CompiledFunction> compiled =
      compileFunction(function, cpu::makeTarget(std::move(*targets)), ProgramMode::Training, options.raise);
  if (!compiled)
    return compiled.takeError();
  Expected<LoadedFunction> loaded = loadFunction(*compiled);
  if (!loaded)
    return loaded.takeError();
  auto call = KernelCall::create(std::move(compiled->signature), arguments, {options.rowPadding, options.inPlace});
  if (!call)
    return call.takeError();
  auto context = CallContext::create(options.threads);
  if (!context)
    return context.takeError();
  return std::make_unique<CPUBackend>(std::move(*loaded), std::move(*call), std::move(*context), hasFMA);
}

} // namespace mlir::resid::run
