/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Refuses the first, then the second, … request that the runtime library makes of the system, memory and threads alike,
 * while an application makes a pool, calls a kernel that needs scratch, and ends the pool. Each refusal must come back as
 * RESID_OOM with everything given back. The linker's --wrap puts this file between the runtime and the C library. */

#include "resid_runtime.h"
#include "statuses.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 5, ROWS = 3, WIDTH = 8 };

static int failures = 0;

/* Requests so far, the one that is refused (0: none), and what is still held. */
static long requests, refused, blocks, threads;

static int refuse(void) { return ++requests == refused; }

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *ptr, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **result, size_t alignment, size_t bytes);
void __real_free(void *ptr);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __real_pthread_join(pthread_t thread, void **result);

static void *count_block(void *ptr) {
  blocks += ptr != NULL;
  return ptr;
}

void *__wrap_malloc(size_t bytes) { return refuse() ? NULL : count_block(__real_malloc(bytes)); }
void *__wrap_calloc(size_t count, size_t bytes) { return refuse() ? NULL : count_block(__real_calloc(count, bytes)); }
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
  return refuse() ? NULL : count_block(__real_aligned_alloc(alignment, bytes));
}
void *__wrap_realloc(void *ptr, size_t bytes) {
  if (refuse())
    return NULL;
  blocks += ptr == NULL;
  return __real_realloc(ptr, bytes);
}
int __wrap_posix_memalign(void **result, size_t alignment, size_t bytes) {
  int code;
  if (refuse())
    return 12; /* ENOMEM */
  code = __real_posix_memalign(result, alignment, bytes);
  blocks += code == 0;
  return code;
}
void __wrap_free(void *ptr) {
  blocks -= ptr != NULL;
  __real_free(ptr);
}
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  int code;
  if (refuse())
    return 11; /* EAGAIN */
  code = __real_pthread_create(thread, attributes, start, argument);
  threads += code == 0;
  return code;
}
int __wrap_pthread_join(pthread_t thread, void **result) {
  int code = __real_pthread_join(thread, result);
  threads -= code == 0;
  return code;
}

static void expect(int good, const char *what) {
  if (good)
    return;
  printf("request %ld refused: expected %s\n", refused, what);
  ++failures;
}

/* What an application does, ending at the first error. */
static resid_status application(float *result) {
  static float stream[ROWS * WIDTH], weight[WIDTH * WIDTH];
  resid_thread_pool *pool = (resid_thread_pool *)&failures; /* anything but NULL */
  resid_ctx ctx;
  int i;
  resid_status status = resid_thread_pool_create(THREADS, &pool);
  if (status != RESID_OK) {
    expect(pool == NULL, "no pool where none could be made");
    return status;
  }
  for (i = 0; i < ROWS * WIDTH; ++i)
    stream[i] = (float)(i % 7) - 3.0f;
  for (i = 0; i < WIDTH * WIDTH; ++i)
    weight[i] = (float)(i % 5) - 2.0f;
  resid_ctx_init(&ctx, pool);
  status = with_scratch(&ctx, stream, ROWS, weight, result);
  resid_thread_pool_destroy(pool);
  return status;
}

int main(void) {
  float expected[ROWS * WIDTH], found[ROWS * WIDTH];
  long count;
  expect(application(expected) == RESID_OK, "an application that runs where nothing is refused");
  count = requests;
  for (refused = 1; refused <= count; ++refused) {
    requests = 0;
    expect(application(found) == RESID_OOM, "RESID_OOM");
    expect(blocks == 0, "all memory given back");
    expect(threads == 0, "all threads joined");
  }
  requests = 0;
  expect(application(found) == RESID_OK, "an application that runs after all that");
  expect(memcmp(expected, found, sizeof(expected)) == 0, "the same bits after all that");
  printf("%ld requests refused one by one, %d failures\n", count, failures);
  return failures == 0 ? 0 : 1;
}
