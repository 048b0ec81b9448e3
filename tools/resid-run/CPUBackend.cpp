// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backend that compiles in memory with the default pipeline, loads the object and calls it on the runtime's
// threads.

#include "tools/resid-run/Backend.h"
#include "tools/resid-run/CompiledFunction.h"
#include "tools/resid-run/KernelCall.h"

namespace mlir::resid::run {

using llvm::Error;
using llvm::Expected;

namespace {

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
  auto targets = machine::resolveTargets("", options.mcpu);
  if (!targets)
    return makeError(tools::ExitUsage, "--mcpu: " + llvm::toString(targets.takeError()));
  Expected<CompiledFunction> compiled = compileFunction(function, *targets);
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
