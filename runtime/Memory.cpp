// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory hooks of resid_ctx on the C library, and the context that offers them. Does not own: threads.

#include "runtime/resid_runtime.h"

#include <stdlib.h>

void *resid_alloc(void *, size_t bytes, size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return nullptr;
  // posix_memalign takes multiples of a pointer's size only; a larger alignment satisfies a smaller one.
  if (alignment < sizeof(void *))
    alignment = sizeof(void *);
  void *memory = nullptr;
  return posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) == 0 ? memory : nullptr;
}

void resid_free(void *, void *ptr) { free(ptr); }

void resid_ctx_init(resid_ctx *ctx, resid_thread_pool *pool) {
  *ctx = resid_ctx{};
  ctx->abi_version = RESID_ABI_VERSION;
  ctx->user = pool;
  ctx->parallel_for = pool ? resid_parallel_for : nullptr;
  ctx->alloc = resid_alloc;
  ctx->free = resid_free;
}
