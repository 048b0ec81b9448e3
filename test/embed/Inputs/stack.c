// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls the functions of stack.py on a thread whose stack has been painted, and looks how deep the paint is gone. In
// each way: with the arguments of C and of DLPack, without tasks and with tasks that run on the same stack.

#define _POSIX_C_SOURCE 200809L

#include "stack.h"
#include "type.inc"

#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 700, kWidth = 100, kMostResults = 40, kStackBytes = 512 << 10, kPromisedBytes = 64 << 10 };

// None begins at a cache line, so that rows are copied from the stack; there is room for many.
static alignas(64) element numbers[(5 + kMostResults) * kRows * kWidth];
static float squares[2 * 256];
static element *const x = numbers + 1, *const f = numbers + 1 + kRows * kWidth,
                      *const g = numbers + 1 + 2 * kRows * kWidth, *const b = numbers + 1 + 3 * kRows * kWidth;
static float *const q = squares, *const square = squares + 256;

static element *result(int number) { return numbers + 1 + (4 + number) * kRows * kWidth; }

static const DLTensor *const *tensors(int results) {
  static int64_t rows[] = {kRows, kWidth}, vector[] = {kWidth}, sixteen[] = {16, 16}, seeds[] = {1, 2};
  static DLTensor all[kMostResults + 8];
  static const DLTensor *pointers[kMostResults + 8];
  const DLTensor ofRows = {.ndim = 2, .shape = rows, .dtype = RESID_TYPE, .device = {kDLCPU, 0}};
  const DLTensor ofVector = {.ndim = 1, .shape = vector, .dtype = RESID_TYPE, .device = {kDLCPU, 0}};
  const DLTensor ofSquare = {.ndim = 2, .shape = sixteen, .dtype = {kDLFloat, 32, 1}, .device = {kDLCPU, 0}};
  const DLTensor ofSeed = {.ndim = 0, .dtype = {kDLInt, 64, 1}, .device = {kDLCPU, 0}};
  void *data[] = {x, f, g, b, q, &seeds[0], &seeds[1]};
  for (int i = 0; i < results + 8; ++i) {
    all[i] = i == 4 || i == results + 7 ? ofSquare : i == 5 || i == 6 ? ofSeed : i == 2 || i == 3 ? ofVector : ofRows;
    all[i].data = i < 7 ? data[i] : i < results + 7 ? (void *)result(i - 7) : (void *)square;
    pointers[i] = &all[i];
  }
  return pointers;
}

#include "calls.inc"

static void runHere(void *user, int64_t count, void (*task)(void *, int64_t), void *argument) {
  (void)user;
  for (int64_t i = 0; i < count; ++i)
    task(argument, i);
}
static alignas(64) char scratch[64 << 10];
static void *allocate(void *user, size_t bytes, size_t alignment) {
  (void)user;
  return bytes <= sizeof scratch && alignment <= 64 ? scratch : NULL;
}
static void release(void *user, void *pointer) {
  (void)user;
  (void)pointer;
}

typedef struct {
  resid_status (*call)(const resid_ctx *);
  const resid_ctx *ctx;
  const char *stack;
  long deepest;
} Run;

static void *run(void *argument) {
  Run *run = argument;
  const char *frame = __builtin_frame_address(0);
  if (run->call(run->ctx) != RESID_OK)
    abort();
  const char *touched = run->stack;
  while (*touched == 0x5A)
    ++touched;
  run->deepest = frame - touched;
  return NULL;
}

static long measure(resid_status (*call)(const resid_ctx *), const resid_ctx *ctx) {
  static alignas(4096) char stack[kStackBytes];
  memset(stack, 0x5A, sizeof stack);
  Run data = {call, ctx, stack, 0};
  pthread_t thread;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) || pthread_attr_setstack(&attributes, stack, sizeof stack) ||
      pthread_create(&thread, &attributes, run, &data) || pthread_join(thread, NULL))
    abort();
  pthread_attr_destroy(&attributes);
  return data.deepest;
}

int main(void) {
  resid_ctx ctx = {.abi_version = RESID_ABI_VERSION, .alloc = allocate, .free = release};
  resid_status (*const calls[])(const resid_ctx *) = {call_few, call_few_dl, call_many, call_many_dl};
  long most = 0;
  for (int i = 0; i < 8; ++i) {
    ctx.parallel_for = i < 4 ? NULL : runHere;
    long bytes = measure(calls[i % 4], &ctx);
    most = bytes > most ? bytes : most;
  }
  printf("%ld bytes of stack, %s\n", most, most > kPromisedBytes ? "more than promised" : "as promised");
  return most > kPromisedBytes;
}
