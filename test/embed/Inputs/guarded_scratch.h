// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scratch memory of a context between pages that may not be touched, filled with the bits of a NaN. Of one allocation
// at a time.

#ifndef RESID_TEST_EMBED_GUARDED_SCRATCH_H
#define RESID_TEST_EMBED_GUARDED_SCRATCH_H

#include "guarded_memory.h"
#include "resid_runtime.h"

#include <cstring>

/// Of an array of the program, or of scratch memory.
constexpr size_t kMostBytes = size_t(1) << 26;

inline Arena scratch(1, kMostBytes);
inline Place scratchPlace = Place::Start;

inline void *allocate(void *, size_t bytes, size_t alignment) {
  size_t whole = (bytes + alignment - 1) / alignment * alignment;
  char *memory = scratch.place(1, whole, scratchPlace);
  memset(memory, 0xFF, whole);
  return memory;
}
inline void release(void *, void *) {}

/// A context with so many threads, and this scratch memory.
struct Threads {
  resid_thread_pool *pool = nullptr;
  resid_ctx context = {};
  explicit Threads(int32_t count) {
    if (count > 1 && resid_thread_pool_create(count, &pool) != RESID_OK)
      abort();
    resid_ctx_init(&context, pool);
    context.alloc = allocate;
    context.free = release;
  }
  Threads(const Threads &) = delete;
  ~Threads() { resid_thread_pool_destroy(pool); }
};

#endif
