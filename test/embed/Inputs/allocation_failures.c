/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Refuses the first, then the second, … request that the runtime library makes of the system, memory, threads and files
 * alike, while an application opens a file of weights (its argument), makes a pool, calls a kernel that needs scratch, and
 * ends the pool. Each refusal must come back as RESID_OOM with everything given back. The linker's --wrap puts this file
 * between the runtime and the C library. */

#include "resid_runtime.h"
#include "statuses.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS = 5, ROWS = 3, WIDTH = 8 };

static int failures = 0;

/* Requests so far, the one that is refused (0: none), and what is still held. */
static long requests, refused, blocks, threads, mappings, descriptors;
static const char *weights_path;

static int refuse(void) { return ++requests == refused; }

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *ptr, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **result, size_t alignment, size_t bytes);
void __real_free(void *ptr);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __real_pthread_join(pthread_t thread, void **result);
int __real_open(const char *path, int flags, ...);
int __real_close(int descriptor);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int descriptor, off_t offset);
int __real_munmap(void *at, size_t bytes);

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

int __wrap_open(const char *path, int flags, ...) {
  int descriptor;
  if (refuse()) {
    errno = ENOMEM;
    return -1;
  }
  descriptor = __real_open(path, flags);
  descriptors += descriptor >= 0;
  return descriptor;
}
int __wrap_close(int descriptor) {
  --descriptors;
  return __real_close(descriptor);
}
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  if (refuse()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  ++mappings;
  return __real_mmap(at, bytes, protection, flags, descriptor, offset);
}
int __wrap_munmap(void *at, size_t bytes) {
  --mappings;
  return __real_munmap(at, bytes);
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
  resid_weights *file = (resid_weights *)&failures;
  resid_ctx ctx;
  int i;
  resid_status status = resid_weights_open(weights_path, &file, NULL, 0);
  if (status != RESID_OK) {
    expect(file == NULL, "no file where none could be opened");
    return status;
  }
  status = resid_weights_set_prefix(file, "model.");
  resid_weights_close(file);
  if (status != RESID_OK)
    return status;
  status = resid_thread_pool_create(THREADS, &pool);
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

int main(int argc, char **argv) {
  float expected[ROWS * WIDTH], found[ROWS * WIDTH];
  long count;
  weights_path = argc == 2 ? argv[1] : "";
  expect(application(expected) == RESID_OK, "an application that runs where nothing is refused");
  count = requests;
  for (refused = 1; refused <= count; ++refused) {
    requests = 0;
    expect(application(found) == RESID_OOM, "RESID_OOM");
    expect(blocks == 0, "all memory given back");
    expect(threads == 0, "all threads joined");
    expect(mappings == 0 && descriptors == 0, "the file closed");
  }
  requests = 0;
  expect(application(found) == RESID_OK, "an application that runs after all that");
  expect(memcmp(expected, found, sizeof(expected)) == 0, "the same bits after all that");
  printf("%ld requests refused one by one, %d failures\n", count, failures);
  return failures == 0 ? 0 : 1;
}
