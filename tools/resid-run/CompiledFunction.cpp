// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-run/CompiledFunction.h"

#include "codegen/Pipelines.h"
#include "codegen/cpu/Target.h"
#include "tools/resid-run/Options.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::resid::run {

using llvm::Error;
using llvm::Expected;

namespace {

/// Erases all functions that `entry` does not reach, so that others cost no time and cause no errors.
void keepReachable(ModuleOp module, StringRef entry) {
  llvm::StringSet<> reached;
  SmallVector<func::FuncOp> pending{module.lookupSymbol<func::FuncOp>(entry)};
  reached.insert(entry);
  while (!pending.empty())
    pending.pop_back_val().walk([&](func::CallOp call) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (callee && reached.insert(callee.getName()).second)
        pending.push_back(callee);
    });
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (!reached.contains(function.getName()))
      function.erase();
    else if (function.getName() != entry)
      function.setPrivate();
  }
}

/// `message` is empty where a diagnostic said why.
Error describeFailure(CompileFailure failure, StringRef message = "") {
  switch (failure) {
  case CompileFailure::Program:
    return makeError(tools::ExitProgram, "");
  case CompileFailure::Unavailable:
    return makeError(tools::ExitUnavailable, message);
  case CompileFailure::File:
    return makeError(tools::ExitFile, message);
  case CompileFailure::Internal:
    return makeError(tools::ExitInternal, message.empty() ? "a stage broke its own rules" : message);
  }
  llvm_unreachable("all failures are handled");
}

} // namespace

Error warnOfMistakes(ModuleOp module) {
  std::optional<CompileFailure> failure = checkProgram(module, {});
  return failure ? describeFailure(*failure) : Error::success();
}

Expected<CompiledFunction> compileFunction(func::FuncOp function, std::shared_ptr<const kernels::Target> target,
                                           ProgramMode mode, RaiseLevel raise) {
  OwningOpRef<ModuleOp> module(function->getParentOfType<ModuleOp>().clone());
  keepReachable(*module, function.getName());
  CompileOptions options;
  options.packedEntries = true;
  options.mode = mode;
  options.raise = raise;
  options.target = std::move(target);
  CompiledModule code;
  CompiledFunction result;
  if (auto failure = runResidStages(*module, options))
    return describeFailure(*failure);
  if (auto failure = compileToCode(*module, options, code))
    return describeFailure(*failure);
  if (auto failure = writeCompiled(code, machine::CodeKind::Object, result.object))
    return describeFailure(*failure, code.failure);
  if (code.signatures.size() != 1)
    return makeError(tools::ExitInternal, "expected one compiled function but got " + Twine(code.signatures.size()));
  result.signature = code.signatures.front();
  return result;
}

Expected<boundary::KernelSignature> findSignature(func::FuncOp function) {
  OwningOpRef<ModuleOp> module(function->getParentOfType<ModuleOp>().clone());
  keepReachable(*module, function.getName());
  auto targets = machine::resolveTargets("", "native");
  if (!targets)
    return makeError(tools::ExitInternal, llvm::toString(targets.takeError()));
  CompileOptions options;
  options.target = cpu::makeTarget(std::move(*targets));
  std::vector<boundary::KernelSignature> signatures;
  auto failure = runResidStages(*module, options);
  if (!failure)
    failure = compileSignatures(*module, options, signatures);
  if (failure)
    return describeFailure(*failure);
  return signatures.front();
}

Expected<LoadedFunction> loadFunction(const CompiledFunction &function) {
  auto internal = [](Error error) {
    return makeError(tools::ExitInternal, "cannot load the compiled object: " + llvm::toString(std::move(error)));
  };
  Expected<LoadedObject> loaded = LoadedObject::load(function.object);
  if (!loaded)
    return internal(loaded.takeError());
  Expected<LoadedObject::PackedFunction> entry = loaded->lookUp(function.signature.symbol);
  if (!entry)
    return internal(entry.takeError());
  return LoadedFunction{std::make_shared<LoadedObject>(std::move(*loaded)), *entry};
}

const char *const runningHint =
    "the compiled program was running; a division by 0 or an offset beyond a tensor, in the "
    "program itself, ends it too, and resid-run --backend=reference says where";

tools::ExitCode getExitCode(resid_status status) {
  // The type of the codes, of which the compiler knows all.
  switch (static_cast<decltype(RESID_OK)>(status)) {
  case RESID_OOM:
    return tools::ExitMemory;
  case RESID_UNSUPPORTED:
  case RESID_NO_DEVICE:
  case RESID_VERSION:
    return tools::ExitUnavailable;
  case RESID_LAUNCH:
  case RESID_INTERNAL:
    return tools::ExitInternal;
  case RESID_OK:
  case RESID_BAD_POINTER:
  case RESID_BAD_SHAPE:
  case RESID_BAD_DTYPE:
  case RESID_BAD_VALUE:
  case RESID_ALIAS:
    return tools::ExitProgram;
  }
  return tools::ExitInternal;
}

} // namespace mlir::resid::run
