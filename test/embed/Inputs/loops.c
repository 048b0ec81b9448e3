// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares loops with the same steps, called one by one.

#include "loops.h"
#include "resid_runtime.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 3, WIDTH = 70, COUNT = ROWS * WIDTH };

static int failures = 0;
static resid_ctx ctx;
static float x[COUNT], g[WIDTH];

static void expect_same(const float *expected, const float *got, const char *what) {
  if (memcmp(expected, got, sizeof(float) * COUNT) == 0)
    return;
  printf("%s: expected %g %g ... but got %g %g ...\n", what, expected[0], expected[1], got[0], got[1]);
  ++failures;
}

static void call_step(float *stream) {
  if (step(&ctx, stream, ROWS, g, stream) != RESID_OK)
    ++failures;
}

static void check(int64_t n) {
  float y[COUNT], z[COUNT], expected[COUNT], sum[COUNT], first[COUNT];
  int i, j, k;
  for (i = 0; i < COUNT; ++i)
    first[i] = x[i] + x[i];
  memcpy(expected, first, sizeof(x));
  for (i = 0; i < n; ++i)
    call_step(expected);
  if (stack(&ctx, x, ROWS, g, n, y, z) != RESID_OK)
    ++failures;
  expect_same(expected, y, "stack");
  expect_same(first, z, "what stack began with");

  memcpy(expected, x, sizeof(x));
  memcpy(sum, x, sizeof(x));
  for (i = 0; i < n; ++i) {
    for (j = 0; j < COUNT; ++j)
      sum[j] = sum[j] + expected[j];
    call_step(expected);
  }
  if (two(&ctx, x, ROWS, g, n, y, z) != RESID_OK)
    ++failures;
  expect_same(expected, y, "the first of two");
  expect_same(sum, z, "the second of two");

  memcpy(expected, x, sizeof(x));
  for (i = 0; i < n; ++i) {
    memcpy(sum, expected, sizeof(x));
    for (j = 0; j < n; ++j)
      call_step(sum);
    for (k = 0; k < COUNT; ++k)
      expected[k] = sum[k] + expected[k];
  }
  if (nested(&ctx, x, ROWS, g, n, y) != RESID_OK)
    ++failures;
  expect_same(expected, y, "nested");
}

int main(void) {
  int i;
  resid_ctx_init(&ctx, NULL);
  for (i = 0; i < COUNT; ++i)
    x[i] = (float)((i * 37) % 101) / 50.0f - 1.0f;
  for (i = 0; i < WIDTH; ++i)
    g[i] = 1.0f + (float)i / 100.0f;
  check(0);
  check(1);
  check(4);
  printf("%d failures\n", failures);
  return failures != 0;
}
