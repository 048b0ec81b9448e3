/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls the functions of fp_environment.mlir where the application has set flush-to-zero, denormals-are-zero or both,
 * on one thread and on a pool's, and holds docs/platforms.md to what it says of results, threads and the advice. */
#include "fp_environment.h"
#include "resid_runtime.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <xmmintrin.h>

enum { ROWS = 300, WIDTH = 333, COUNT = ROWS * WIDTH };
enum { FTZ = 0x8000, DAZ = 0x0040, BOTH = FTZ | DAZ, FLAGS = 0x003f };

typedef union {
  float f32[COUNT];
  uint16_t bits16[COUNT];
} array;

typedef struct {
  const char *name, *element;
  resid_status (*call)(const resid_ctx *ctx, const array *x, array *out);
} kernel;

#define KERNEL(name, element, member)                                                                                  \
  static resid_status call_##name##_##element(const resid_ctx *ctx, const array *x, array *out) {                      \
    return name##_##element(ctx, x->member, ROWS, WIDTH, out->member);                                                 \
  }
#define KERNELS(element, member)                                                                                       \
  KERNEL(add, element, member)                                                                                         \
  KERNEL(layer, element, member) KERNEL(rms, element, member) KERNEL(dropout, element, member)
KERNELS(f32, f32)
KERNELS(bf16, bits16)
KERNELS(f16, bits16)

#define ENTRY(name, element) {#name, #element, call_##name##_##element}
#define ENTRIES(element) ENTRY(add, element), ENTRY(layer, element), ENTRY(rms, element), ENTRY(dropout, element)
static const kernel kernels[] = {ENTRIES(f32), ENTRIES(bf16), ENTRIES(f16)};
enum { KERNEL_COUNT = sizeof(kernels) / sizeof(*kernels) };

static array ordinary, denormal, expected, found;
static int comparisons = 0, failures = 0;

static void expect(int holds, const kernel *k, unsigned mode, const char *what) {
  ++comparisons;
  if (holds)
    return;
  ++failures;
  printf("%s_%s with MXCSR bits %04x: expected %s\n", k ? k->name : "pool", k ? k->element : "", mode, what);
}

static unsigned control(void) { return _mm_getcsr() & ~(unsigned)FLAGS; }

static void set_mode(unsigned mode) { _mm_setcsr((_mm_getcsr() & ~(unsigned)BOTH) | mode); }

static size_t bytes_of(const kernel *k) { return COUNT * (strcmp(k->element, "f32") == 0 ? sizeof(float) : 2); }

/* Numbers between 0.5 and 2 in size, or denormal ones of either sign. */
static void fill(const kernel *k) {
  int is_f32 = strcmp(k->element, "f32") == 0, is_f16 = strcmp(k->element, "f16") == 0;
  for (uint32_t i = 0; i < COUNT; ++i) {
    uint32_t random = (i + 1) * 2654435761u, sign = random >> 31;
    uint32_t mantissa_bits = is_f32 ? 23 : is_f16 ? 10 : 7, one = is_f16 ? 15 : 127;
    uint32_t mantissa = (random >> 3) & ((1u << mantissa_bits) - 1), exponent = one - ((random >> 30) & 1);
    uint32_t top = sign << (is_f32 ? 31 : 15), small = top | mantissa | 1;
    uint32_t number = top | exponent << mantissa_bits | mantissa;
    if (is_f32) {
      memcpy(&ordinary.f32[i], &number, sizeof number);
      memcpy(&denormal.f32[i], &small, sizeof small);
    } else {
      ordinary.bits16[i] = (uint16_t)number;
      denormal.bits16[i] = (uint16_t)small;
    }
  }
}

/* All elements are +0 or -0. */
static int is_zero(const kernel *k, const array *data) {
  for (int i = 0; i < COUNT; ++i) {
    uint32_t bits = data->bits16[i];
    if (strcmp(k->element, "f32") == 0)
      memcpy(&bits, &data->f32[i], sizeof bits);
    if ((bits & (strcmp(k->element, "f32") == 0 ? 0x7fffffff : 0x7fff)) != 0)
      return 0;
  }
  return 1;
}

static pthread_t caller;
static atomic_int changed_by_tasks;

typedef struct {
  void (*fn)(void *arg, int64_t i);
  void *arg;
} task;

static void watch(void *arg, int64_t i) {
  const task *watched = arg;
  unsigned before = control();
  watched->fn(watched->arg, i);
  if (control() != before)
    atomic_fetch_add(&changed_by_tasks, 1);
}

/* The pool's hook, with a look at MXCSR around every task. */
static void parallel_for(void *user, int64_t n, void (*fn)(void *arg, int64_t i), void *arg) {
  task watched = {fn, arg};
  resid_parallel_for(user, n, watch, &watched);
}

static void call(const kernel *k, const resid_ctx *ctx, const array *x, array *out, unsigned mode) {
  unsigned before = control();
  memset(out, 0xAB, sizeof *out);
  expect(k->call(ctx, x, out) == RESID_OK, k, mode, "RESID_OK");
  expect(control() == before, k, mode, "MXCSR to be as it was before the call");
}

/* Where no number is denormal, nothing changes; f16 has its own in the range of f32's normal numbers. In f32 and bf16
 * denormal numbers count as zero with both bits set. The advice of the documentation brings them back. */
static void check(const kernel *k, const resid_ctx *ctx, unsigned mode) {
  size_t bytes = bytes_of(k);
  set_mode(0);
  call(k, NULL, &ordinary, &expected, 0);
  set_mode(mode);
  call(k, ctx, &ordinary, &found, mode);
  expect(memcmp(&found, &expected, bytes) == 0, k, mode, "the same bits, because no number is denormal");

  set_mode(0);
  call(k, NULL, &denormal, &expected, 0);
  expect(!is_zero(k, &expected), k, 0, "denormal numbers to count");
  set_mode(mode);
  call(k, ctx, &denormal, &found, mode);
  if (strcmp(k->element, "f16") == 0 || mode == 0)
    expect(memcmp(&found, &expected, bytes) == 0, k, mode, "the same bits");
  else if (mode & DAZ)
    expect(is_zero(k, &found), k, mode, "zeros");

  fenv_t saved;
  fegetenv(&saved);
  fesetenv(FE_DFL_ENV);
  call(k, NULL, &denormal, &found, 0);
  fesetenv(&saved);
  expect(memcmp(&found, &expected, bytes) == 0, k, mode, "the promised bits in the default environment");
  expect((control() & BOTH) == mode, k, mode, "the application's environment to be back");
  set_mode(0);
}

typedef struct {
  atomic_int arrived;
  atomic_uint mode_of_worker;
} meeting;

/* Two tasks on two threads, as each waits for the other. */
static void meet(void *arg, int64_t i) {
  (void)i;
  meeting *m = arg;
  if (!pthread_equal(pthread_self(), caller))
    atomic_store(&m->mode_of_worker, control() & BOTH);
  atomic_fetch_add(&m->arrived, 1);
  while (atomic_load(&m->arrived) < 2)
    ;
}

/* Workers have the environment of the thread that made the pool, whatever the caller has later. */
static void check_workers(unsigned mode) {
  resid_thread_pool *pool;
  set_mode(mode);
  if (resid_thread_pool_create(2, &pool) != RESID_OK) {
    expect(0, NULL, mode, "a pool");
    return;
  }
  set_mode(mode ^ BOTH);
  meeting m = {0, ~0u};
  resid_parallel_for(pool, 2, meet, &m);
  expect(atomic_load(&m.mode_of_worker) == mode, NULL, mode, "the environment of the thread that made the pool");
  set_mode(0);
  resid_thread_pool_destroy(pool);
}

int main(void) {
  static const unsigned modes[] = {0, FTZ, DAZ, BOTH};
  caller = pthread_self();
  for (int m = 0; m < 4; ++m) {
    resid_thread_pool *pool;
    resid_ctx ctx;
    check_workers(modes[m]);
    set_mode(modes[m]);
    if (resid_thread_pool_create(4, &pool) != RESID_OK)
      return 1;
    set_mode(0);
    resid_ctx_init(&ctx, pool);
    ctx.parallel_for = parallel_for;
    for (int k = 0; k < KERNEL_COUNT; ++k) {
      fill(&kernels[k]);
      check(&kernels[k], NULL, modes[m]);
      check(&kernels[k], &ctx, modes[m]);
    }
    resid_thread_pool_destroy(pool);
  }
  expect(atomic_load(&changed_by_tasks) == 0, NULL, 0, "tasks to leave MXCSR as it was");
  printf("%d comparisons, %d failures\n", comparisons, failures);
  return failures != 0;
}
