// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backend that compiles in memory with the default pipeline, loads the object and calls it on the runtime's
// threads.

#include "codegen/Pipelines.h"
#include "tools/resid-run/Backend.h"
#include "tools/resid-run/KernelCall.h"
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
  case CompileFailure::Internal:
    return makeError(tools::ExitInternal, message.empty() ? "a stage broke its own rules" : message);
  }
  llvm_unreachable("all failures are handled");
}

/// An object with the packed entry of one function, and the signature of that function.
struct CompiledFunction {
  SmallVector<char, 0> object;
  boundary::KernelSignature signature;
};

Expected<CompiledFunction> compile(func::FuncOp function, StringRef mcpu) {
  OwningOpRef<ModuleOp> module(function->getParentOfType<ModuleOp>().clone());
  keepReachable(*module, function.getName());
  auto targets = machine::resolveTargets("", mcpu);
  if (!targets)
    return makeError(tools::ExitUsage, "--mcpu: " + llvm::toString(targets.takeError()));
  CompileOptions options;
  options.packedEntries = true;
  CompiledModule code;
  CompiledFunction result;
  if (auto failure = runResidStages(*module, options))
    return describeFailure(*failure);
  if (auto failure = compileToCode(*module, options, *targets, code))
    return describeFailure(*failure);
  if (auto failure = writeCompiled(code, *targets, machine::CodeKind::Object, result.object))
    return describeFailure(*failure, code.failure);
  if (code.signatures.size() != 1)
    return makeError(tools::ExitInternal, "expected one compiled function but got " + Twine(code.signatures.size()));
  result.signature = code.signatures.front();
  return result;
}

tools::ExitCode getExitCode(resid_status status) {
  switch (status) {
  case RESID_OOM:
    return tools::ExitMemory;
  case RESID_UNSUPPORTED:
  case RESID_NO_DEVICE:
  case RESID_VERSION:
    return tools::ExitUnavailable;
  case RESID_LAUNCH:
  case RESID_INTERNAL:
    return tools::ExitInternal;
  default:
    return tools::ExitProgram;
  }
}

class CPUBackend : public Backend {
public:
  CPUBackend(LoadedObject loaded, LoadedObject::PackedFunction entry, std::unique_ptr<KernelCall> call,
             resid_thread_pool *pool)
      : object(std::move(loaded)), entry(entry), call(std::move(call)), pool(pool) {
    resid_ctx_init(&context, pool);
    context.user = this;
    if (pool)
      context.parallel_for = runInPool;
    context.log = keepMessage;
  }
  ~CPUBackend() override { resid_thread_pool_destroy(pool); }

  Error run() override {
    refusal.clear();
    resid_status status = call->call(entry, context);
    if (status == RESID_OK && !call->arePaddingsIntact())
      return makeError(tools::ExitInternal, "internal error: the compiled function wrote between the rows of an array");
    if (status == RESID_OK)
      return Error::success();
    std::string answer = std::string("the compiled function answered ") + resid_status_string(status);
    return makeError(getExitCode(status), refusal.empty() ? answer : answer + "; " + refusal);
  }
  std::vector<Array> getResults() override { return call->getResults(); }

private:
  static void runInPool(void *user, int64_t n, void (*fn)(void *arg, int64_t i), void *arg) {
    resid_parallel_for(static_cast<CPUBackend *>(user)->pool, n, fn, arg);
  }
  static void keepMessage(void *user, int32_t, const char *text) { static_cast<CPUBackend *>(user)->refusal = text; }

  LoadedObject object;
  LoadedObject::PackedFunction entry;
  std::unique_ptr<KernelCall> call;
  resid_thread_pool *pool;
  resid_ctx context;
  /// What the function said to the log.
  std::string refusal;
};

} // namespace

Expected<std::unique_ptr<Backend>> makeCPUBackend(func::FuncOp function, llvm::ArrayRef<Array> arguments,
                                                  const Options &options) {
  Expected<CompiledFunction> compiled = compile(function, options.mcpu);
  if (!compiled)
    return compiled.takeError();
  auto internal = [](Error error) {
    return makeError(tools::ExitInternal, "cannot load the compiled object: " + llvm::toString(std::move(error)));
  };
  Expected<LoadedObject> loaded = LoadedObject::load(compiled->object);
  if (!loaded)
    return internal(loaded.takeError());
  Expected<LoadedObject::PackedFunction> entry = loaded->lookUp(compiled->signature.symbol);
  if (!entry)
    return internal(entry.takeError());
  auto call = KernelCall::create(std::move(compiled->signature), arguments, options.rowPadding);
  if (!call)
    return call.takeError();
  resid_thread_pool *pool = nullptr;
  if (options.threads != 1) {
    resid_status status = resid_thread_pool_create(static_cast<int32_t>(options.threads), &pool);
    if (status != RESID_OK)
      return makeError(getExitCode(status), Twine("--threads: ") + resid_status_string(status));
  }
  return std::make_unique<CPUBackend>(std::move(*loaded), *entry, std::move(*call), pool);
}

} // namespace mlir::resid::run
