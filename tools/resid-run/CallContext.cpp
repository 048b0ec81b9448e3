// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-run/CallContext.h"

#include "tools/resid-run/CompiledFunction.h"
#include "tools/resid-run/Options.h"

namespace mlir::resid::run {

llvm::Expected<std::unique_ptr<CallContext>> CallContext::create(unsigned threads) {
  resid_thread_pool *pool = nullptr;
  if (threads != 1) {
    resid_status status = resid_thread_pool_create(static_cast<int32_t>(threads), &pool);
    if (status != RESID_OK)
      return makeError(getExitCode(status), llvm::Twine("--threads: ") + resid_status_string(status));
  }
  return std::unique_ptr<CallContext>(new CallContext(pool));
}

CallContext::CallContext(resid_thread_pool *pool) : pool(pool) {
  resid_ctx_init(&context, pool);
  context.user = this;
  if (pool)
    context.parallel_for = runInPool;
  context.log = keepMessage;
}

void CallContext::runInPool(void *user, int64_t n, void (*fn)(void *arg, int64_t i), void *arg) {
  resid_parallel_for(static_cast<CallContext *>(user)->pool, n, fn, arg);
}

void CallContext::keepMessage(void *user, int32_t, const char *text) {
  static_cast<CallContext *>(user)->refusal = text;
}

} // namespace mlir::resid::run
