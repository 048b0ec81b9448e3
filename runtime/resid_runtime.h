/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The runtime library: a thread pool and memory hooks for resid_ctx. Using it is a choice; kernels only ever see the
 * hooks. Does not own: the binary interface (resid.h). */
#ifndef RESID_RUNTIME_H
#define RESID_RUNTIME_H

#include "resid.h"

#if RESID_ABI_VERSION != 1
#error "expected declarations of resid's ABI version 1, but a header before this one has those of another"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A fixed set of threads that wait for work. They stay awake for some tens of microseconds, then sleep. They sleep at
 * once if threads and callers together outnumber the processors that the process had when the pool was made. All
 * functions below may be called from any number of threads at once. A pool must not be in use when it is destroyed. */
typedef struct resid_thread_pool resid_thread_pool;

/* The largest number of threads of one pool. */
#define RESID_MAX_THREADS 1024

/* Makes a pool in which one call of resid_parallel_for runs on up to `threads` threads, the caller's included. 0 means
 * the number of processors this process may use. The caller owns *pool and gives it to resid_thread_pool_destroy.
 * Errors, with *pool = NULL and nothing leaked: RESID_BAD_POINTER (pool is NULL), RESID_BAD_VALUE (threads is negative or
 * above RESID_MAX_THREADS), RESID_OOM (no memory, or the system gives no further thread). */
RESID_API resid_status resid_thread_pool_create(int32_t threads, resid_thread_pool **pool);

/* Ends and joins the pool's threads. NULL is allowed. */
RESID_API void resid_thread_pool_destroy(resid_thread_pool *pool);

/* The number of threads of one call, the caller's included; 1 for NULL. */
RESID_API int32_t resid_thread_pool_size(const resid_thread_pool *pool);

/* A resid_ctx.parallel_for whose `user` is the pool. Calls fn(arg, i) once for every i in [0, n); the next free thread
 * takes the next i. Returns when all calls have returned. What they wrote is then visible to the caller. A NULL pool
 * runs everything on the calling thread. fn may call resid_parallel_for on the same pool again, and independent threads
 * may use one pool at the same time. Allocates nothing. */
RESID_API void resid_parallel_for(void *pool, int64_t n, void (*fn)(void *arg, int64_t i), void *arg);

/* A resid_ctx.alloc and resid_ctx.free on the C library's memory; `user` is ignored. resid_alloc answers NULL if memory
 * is short or `alignment` is not a power of two. For 0 bytes it answers a pointer that resid_free takes. */
RESID_API void *resid_alloc(void *user, size_t bytes, size_t alignment);
RESID_API void resid_free(void *user, void *ptr);

/* Fills *ctx: this ABI version, the pool as `user` with resid_parallel_for (no parallel_for where pool is NULL),
 * resid_alloc and resid_free; no stream, no log. The context borrows the pool. */
RESID_API void resid_ctx_init(resid_ctx *ctx, resid_thread_pool *pool);

#ifdef __cplusplus
}
#endif

#endif /* RESID_RUNTIME_H */
