/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls a function compiled for GPUs as applications do, on a driver that RESID_CUDA_DRIVER names. Usage: cuda_calls WHAT, with
 * one of the names at the end. It prints what came of it. Does not check values beyond those of small integers. */
#include "cuda_calls.h"
#include "resid_runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 5, WIDTH = 40, COUNT = ROWS * WIDTH };
typedef void *handle;

static void *find(const char *name) {
  static void *library;
  if (!library)
    library = dlopen(getenv("RESID_CUDA_DRIVER"), RTLD_NOW);
  void *function = library ? dlsym(library, name) : NULL;
  if (!function) {
    printf("the driver has no %s\n", name);
    exit(1);
  }
  return function;
}

/* A call of the driver by its name, with what it takes as words; the test ends where it fails. */
typedef int (*driver_function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t);
static void call(const char *name, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) {
  driver_function function;
  *(void **)&function = find(name);
  int error = function(a, b, c, d);
  if (error) {
    printf("%s answered %d\n", name, error);
    exit(1);
  }
}

static handle create_context(int device) {
  handle context;
  call("cuCtxCreate_v2", (uintptr_t)&context, 0, device, 0);
  return context;
}
static handle create_stream(void) {
  handle stream;
  call("cuStreamCreate", (uintptr_t)&stream, 0, 0, 0);
  return stream;
}
static handle get_current(void) {
  handle context;
  call("cuCtxGetCurrent", (uintptr_t)&context, 0, 0, 0);
  return context;
}
static float *allocate(void) {
  uintptr_t memory;
  call("cuMemAlloc_v2", (uintptr_t)&memory, COUNT * sizeof(float), 0, 0);
  return (float *)memory;
}

static void print_line(void *user, int32_t level, const char *text) {
  (void)user;
  printf("%s: %s\n", level == RESID_LOG_ERROR ? "error" : "warning", text);
}
static resid_ctx make_context(handle stream) {
  resid_ctx ctx = RESID_CTX_INIT;
  ctx.stream = stream;
  ctx.log = print_line;
  return ctx;
}

static float *x, *f, *sum;

/* x is 0, 1, 2, ... and f is 1. */
static void make_arrays(void) {
  float numbers[COUNT], ones[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    numbers[i] = (float)i;
    ones[i] = 1;
  }
  x = allocate(), f = allocate(), sum = allocate();
  call("cuMemcpyHtoD_v2", (uintptr_t)x, (uintptr_t)numbers, sizeof(numbers), 0);
  call("cuMemcpyHtoD_v2", (uintptr_t)f, (uintptr_t)ones, sizeof(ones), 0);
}

static resid_status run_add(const resid_ctx *ctx, const float *a, int64_t rows, const float *b, float *out) {
  return add(ctx, a, rows, b, rows, out);
}

static int has_sum(const float *result, float more) {
  float found[COUNT];
  call("cuMemcpyDtoH_v2", (uintptr_t)found, (uintptr_t)result, sizeof(found), 0);
  for (int i = 0; i < COUNT; ++i)
    if (found[i] != (float)i + more)
      return 0;
  return 1;
}

static void report(const char *what, resid_status status, const float *result, float more) {
  printf("%s: %s, %s\n", what, resid_status_string(status), has_sum(result, more) ? "the sum" : "no sum");
}

/* One call, in a context of the caller's: what the driver answers is what is said. */
static void plain(void) {
  handle context = create_context(0);
  make_arrays();
  resid_ctx ctx = make_context(NULL);
  report("call", run_add(&ctx, x, ROWS, f, sum), sum, 1);
  report("in place", run_add(&ctx, x, ROWS, f, x), x, 1);
  printf("no rows: %s\n", resid_status_string(run_add(&ctx, NULL, 0, NULL, NULL)));
  printf("current context: %s\n", get_current() == context ? "kept" : "lost");
  printf("compiled for %s of %s\n", add_info()->cpu, add_info()->target);
}

/* Without a current context, the primary one of device 0; without resid_ctx, nothing is said. */
static void primary(void) {
  printf("preload: %s\n", resid_status_string(add_preload(NULL)));
  printf("current context: %s\n", get_current() ? "changed" : "none");
  handle context;
  call("cuDevicePrimaryCtxRetain", (uintptr_t)&context, 0, 0, 0);
  call("cuCtxPushCurrent_v2", (uintptr_t)context, 0, 0, 0);
  make_arrays();
  report("call", run_add(NULL, x, ROWS, f, sum), sum, 1);
}

/* The stream says which context; another one is current. */
static void contexts(void) {
  handle first = create_context(0), stream = create_stream();
  handle second = create_context(1), other = create_stream();
  make_arrays();
  resid_ctx ctx = make_context(stream), ctx2 = make_context(other);
  report("first device", run_add(&ctx, x, ROWS, f, sum), sum, 1);
  report("second device", run_add(&ctx2, x, ROWS, f, f), f, 1);
  printf("contexts: %s\n", first != second && get_current() == second ? "kept" : "lost");
}

/* A context that was destroyed, and one made later, perhaps at its address. */
static void again(void) {
  for (int round = 0; round < 3; ++round) {
    handle context = create_context(0);
    make_arrays();
    resid_ctx ctx = make_context(NULL);
    report("call", run_add(&ctx, x, ROWS, f, sum), sum, 1);
    resid_cuda_unload(&ctx);
    call("cuCtxDestroy_v2", (uintptr_t)context, 0, 0, 0);
  }
}

static void capture(void) {
  create_context(0);
  make_arrays();
  handle stream = create_stream(), graph, executable;
  resid_ctx ctx = make_context(stream);
  call("cuStreamBeginCapture_v2", (uintptr_t)stream, 0, 0, 0);
  printf("capture without preload: %s\n", resid_status_string(run_add(&ctx, x, ROWS, f, sum)));
  call("cuStreamEndCapture", (uintptr_t)stream, (uintptr_t)&graph, 0, 0);
  printf("preload: %s\n", resid_status_string(add_preload(&ctx)));
  call("cuStreamBeginCapture_v2", (uintptr_t)stream, 0, 0, 0);
  report("captured", run_add(&ctx, x, ROWS, f, sum), sum, 1);
  call("cuStreamEndCapture", (uintptr_t)stream, (uintptr_t)&graph, 0, 0);
  call("cuGraphInstantiateWithFlags", (uintptr_t)&executable, (uintptr_t)graph, 0, 0);
  call("cuGraphLaunch", (uintptr_t)executable, (uintptr_t)stream, 0, 0);
  report("launched", RESID_OK, sum, 1);
}

static handle shared;
static void *run_thread(void *result) {
  call("cuCtxPushCurrent_v2", (uintptr_t)shared, 0, 0, 0);
  resid_ctx ctx = make_context(NULL);
  *(resid_status *)result = run_add(&ctx, x, ROWS, f, sum);
  return NULL;
}

/* All load at once; one does. */
static void threads(void) {
  enum { THREADS = 8 };
  pthread_t ids[THREADS];
  resid_status statuses[THREADS];
  shared = create_context(0);
  make_arrays();
  for (int i = 0; i < THREADS; ++i)
    pthread_create(&ids[i], NULL, run_thread, &statuses[i]);
  resid_status status = RESID_OK;
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(ids[i], NULL);
    status = status ? status : statuses[i];
  }
  report("threads", status, sum, 1);
}

/* Scratch memory of the device. */
static void scratch(void) {
  create_context(0);
  make_arrays();
  resid_ctx ctx;
  printf("context: %s\n", resid_status_string(resid_cuda_ctx_init(&ctx, NULL)));
  ctx.log = print_line;
  float found[WIDTH], *sums = allocate();
  printf("sums: %s, %s\n", resid_status_string(column_sums(&ctx, x, ROWS, sums)),
         column_sums_scratch_bytes(ROWS) > 0 ? "with scratch memory" : "without");
  call("cuMemcpyDtoH_v2", (uintptr_t)found, (uintptr_t)sums, sizeof(found), 0);
  printf("column 3: %g\n", found[3]);
  ctx.alloc = NULL;
  printf("no hook: %s\n", resid_status_string(column_sums(&ctx, x, ROWS, sums)));
}

/* Where there is no driver to be used, there is no memory either: these addresses are never followed. */
static void absent(void) {
  resid_ctx ctx = make_context(NULL), own;
  printf("call: %s\n", resid_status_string(run_add(&ctx, (float *)4096, ROWS, (float *)8192, (float *)16384)));
  printf("context: %s\n", resid_status_string(resid_cuda_ctx_init(&own, NULL)));
}

/* Requests that the runtime library makes of the C library, and the one that is refused; the linker's --wrap puts these here. */
static long requests, refused;
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes) { return ++requests == refused ? NULL : __real_calloc(count, bytes); }
void *__wrap_realloc(void *memory, size_t bytes) { return ++requests == refused ? NULL : __real_realloc(memory, bytes); }

/* The first load takes memory twice, one that follows once: each is refused once, and what follows works. */
static void memory(void) {
  handle context = create_context(0);
  make_arrays();
  resid_ctx ctx = make_context(NULL);
  for (refused = 1; refused <= 2; ++refused) {
    requests = 0;
    printf("request %ld refused: %s\n", refused, resid_status_string(add_preload(&ctx)));
  }
  refused = 0;
  report("call", run_add(&ctx, x, ROWS, f, sum), sum, 1);
  handle other = create_context(0);
  refused = 1, requests = 0;
  printf("another context refused: %s\n", resid_status_string(add_preload(&ctx)));
  printf("another context: %s\n", resid_status_string(add_preload(&ctx)));
  requests = 0;
  printf("again: %s, %ld requests\n", resid_status_string(add_preload(&ctx)), requests);
  printf("contexts: %s\n", context != other && get_current() == other ? "kept" : "lost");
}

static void dlpack(void) {
  create_context(0);
  make_arrays();
  int64_t shape[] = {ROWS, WIDTH};
  DLTensor tensors[3] = {{x, {kDLCUDA, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0},
                         {f, {kDLCUDA, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0},
                         {sum, {kDLCUDA, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0}};
  const DLTensor *args[] = {&tensors[0], &tensors[1], &tensors[2]};
  resid_ctx ctx = make_context(NULL);
  report("DLPack", add_dl(&ctx, args, 3), sum, 1);
  tensors[1].device.device_type = kDLCPU;
  printf("on the CPU: %s\n", resid_status_string(add_dl(&ctx, args, 3)));
}

int main(int count, char **values) {
  static const struct {
    const char *name;
    void (*run)(void);
  } parts[] = {{"plain", plain}, {"primary", primary}, {"contexts", contexts}, {"again", again}, {"capture", capture},
               {"threads", threads}, {"scratch", scratch}, {"memory", memory}, {"dlpack", dlpack}, {"absent", absent}};
  setvbuf(stdout, NULL, _IONBF, 0);
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i)
    if (count == 2 && strcmp(values[1], parts[i].name) == 0) {
      parts[i].run();
      return 0;
    }
  return 2;
}
