// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory hooks of resid_ctx on the C library, and the context that offers them. Does not own: threads.

#include "runtime/resid_runtime.h"

#include <stdlib.h>
#include <sys/mman.h>

/// A large page of x86-64, and of AArch64 with small ones of 4 KiB.
static constexpr size_t kLargePage = 2 << 20;

/// Asks for large pages, where the system has some for who asks. Scratch memory is new at each call, and faults of
/// small pages would take much of a large gradient's time (benchmarks/transitions.py).
static void adviseLargePages(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
  (void)madvise(memory, bytes, MADV_HUGEPAGE); // without them it is memory as well
#endif
}

void *resid_alloc(void *, size_t bytes, size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return nullptr;
  // posix_memalign takes multiples of a pointer's size only; a larger alignment satisfies a smaller one.
  if (alignment < sizeof(void *))
    alignment = sizeof(void *);
  bool isLarge = bytes >= 2 * kLargePage;
  if (isLarge && alignment < kLargePage)
    alignment = kLargePage;
  void *memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0)
    return nullptr;
  if (isLarge)
    adviseLargePages(memory, bytes);
  return memory;
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
