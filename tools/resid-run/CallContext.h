// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The context that compiled functions are called with: the runtime's threads, and a log that keeps what they say.

#ifndef RESID_TOOLS_RESID_RUN_CALLCONTEXT_H
#define RESID_TOOLS_RESID_RUN_CALLCONTEXT_H

#include "runtime/resid_runtime.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace mlir::resid::run {

class CallContext {
public:
  /// `threads` as in --threads: 1 for none beside the caller's, 0 for as many as there are processors.
  static llvm::Expected<std::unique_ptr<CallContext>> create(unsigned threads);
  ~CallContext() { resid_thread_pool_destroy(pool); }
  CallContext(const CallContext &) = delete;
  CallContext &operator=(const CallContext &) = delete;

  const resid_ctx &get() const { return context; }
  /// What a function said to the log; it stays until it is cleared.
  std::string refusal;

private:
  explicit CallContext(resid_thread_pool *pool);
  static void runInPool(void *user, int64_t n, void (*fn)(void *arg, int64_t i), void *arg);
  static void keepMessage(void *user, int32_t level, const char *text);

  resid_thread_pool *pool;
  resid_ctx context;
};

} // namespace mlir::resid::run

#endif
