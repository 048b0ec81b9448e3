/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The runtime library: a thread pool and memory hooks for resid_ctx, and a reader of files of weights. Using it is a
 * choice; kernels only ever see hooks and arrays. Does not own: the binary interface (resid.h). */
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
 * is short or `alignment` is not a power of two. For 0 bytes it answers a pointer that resid_free takes. For 4 MiB and more
 * it asks Linux for large pages. */
RESID_API void *resid_alloc(void *user, size_t bytes, size_t alignment);
RESID_API void resid_free(void *user, void *ptr);

/* Fills *ctx: this ABI version, the pool as `user` with resid_parallel_for (no parallel_for where pool is NULL),
 * resid_alloc and resid_free; no stream, no log. The context borrows the pool. */
RESID_API void resid_ctx_init(resid_ctx *ctx, resid_thread_pool *pool);

/* For functions compiled for NVIDIA GPUs (residc --target=cuda). They find the driver when they are first called: the
 * library that the environment variable RESID_CUDA_DRIVER names, else libcuda.so.1.
 *
 * Fills *ctx: this ABI version, the stream (a CUstream or cudaStream_t; NULL: the legacy stream), and memory of the
 * device that is ordered on it (cuMemAllocAsync). RESID_BAD_POINTER (ctx is NULL). RESID_NO_DEVICE, RESID_VERSION: no
 * driver, or one before CUDA 11.2, which has no such memory. */
RESID_API resid_status resid_cuda_ctx_init(resid_ctx *ctx, void *stream);

/* Unloads all kernels from the context of ctx->stream. Call it before that context is destroyed, if others are made
 * later; drivers from CUDA 12.0 on tell a new context at an old address apart without it. No function may be running
 * there. ctx may be NULL. */
RESID_API void resid_cuda_unload(const resid_ctx *ctx);

/* A file of weights in the safetensors format, or a .npz file of NumPy whose arrays are stored and not compressed ("<u2"
 * is BF16). Tensors are found by their names. Once it is open, any number of threads may use it at once. The functions
 * below that take `text` write a line there which says what was expected and what was found: at most text_bytes bytes,
 * with the zero at its end; empty where all is well. text may be NULL. */
typedef struct resid_weights resid_weights;

/* Opens the file at `path` and checks its header: that it follows the format, and that the tensors fill the file
 * without overlap or hole. Tensors are not copied: the file is mapped, read-only, and read where it is first touched.
 * It must keep its contents until resid_weights_close. Errors, with *weights = NULL and nothing leaked:
 * RESID_BAD_POINTER (path or weights is NULL), RESID_BAD_VALUE (the file cannot be read, or does not follow the
 * format), RESID_OOM. */
RESID_API resid_status resid_weights_open(const char *path, resid_weights **weights, char *text, size_t text_bytes);

/* The same for a file of `bytes` bytes that the caller has in memory, and keeps there until resid_weights_close. */
RESID_API resid_status resid_weights_read(const void *file, size_t bytes, resid_weights **weights, char *text,
                                          size_t text_bytes);

/* Ends it, and with it all pointers to its tensors. NULL is allowed. */
RESID_API void resid_weights_close(resid_weights *weights);

/* Checkpoints differ in what stands in front of their names: "transformer." or "model.". From now on, a tensor that is
 * looked for by resid_weights_find and resid_weights_fill is the one whose name begins with `prefix`, and goes on with
 * the name that is asked for; where there is none, the one of that name alone. Call it before other threads use
 * *weights. Errors, with *weights as it was: RESID_BAD_POINTER (weights or prefix is NULL), RESID_OOM. */
RESID_API resid_status resid_weights_set_prefix(resid_weights *weights, const char *prefix);

/* The number of tensors; 0 for NULL. */
RESID_API int64_t resid_weights_count(const resid_weights *weights);

/* Describes the tensor with this number, in the order of names: *found, whose pointers live as long as *weights, and
 * *data, its first byte. found and data may be NULL. Errors: RESID_BAD_POINTER (weights is NULL), RESID_BAD_VALUE
 * (index is out of range). */
RESID_API resid_status resid_weights_get(const resid_weights *weights, int64_t index, resid_weight *found,
                                         const void **data);

/* Finds the tensor with the name, type and shape that are wanted. A dtype of NULL stands for any, and so does a size
 * below 0. *found and *data as above, where all is well; they may be NULL. The data may begin at any address, which
 * kernels take. Errors: RESID_BAD_POINTER (weights, wanted, its name or its shape is NULL), RESID_BAD_VALUE (no tensor
 * has that name), RESID_BAD_DTYPE, RESID_BAD_SHAPE. */
RESID_API resid_status resid_weights_find(const resid_weights *weights, const resid_weight *wanted, resid_weight *found,
                                          const void **data, char *text, size_t text_bytes);

/* Fills the struct <name>_weights at `members`, of `bytes` bytes, for a function that residc --weights-struct has made.
 * `list` is the answer of its <name>_weight_list(). Each member gets the tensor of its name, type and shape. Members
 * that <name>_prepare makes stay as they are, and tensors that no member asks for are fine. Errors, with all members as
 * they were: those of resid_weights_find for the first member that cannot be filled, and RESID_BAD_SHAPE where bytes is
 * not the size of the struct. */
RESID_API resid_status resid_weights_fill(const resid_weights *weights, const resid_weight_list *list, void *members,
                                          size_t bytes, char *text, size_t text_bytes);

#ifdef __cplusplus
}
#endif

#endif /* RESID_RUNTIME_H */
