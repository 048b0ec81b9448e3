/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a function with row strides answers to bad strides and overlapping arrays. Compiled as C11 and as C++11. */

#include "strided.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 4, WIDTH = 8, ROOM = 1024 };

static int failures = 0;
static float room[ROOM], other[ROOM], gamma_[WIDTH];

/* All arguments of one call, good to begin with. */
typedef struct Call {
  const float *x, *f;
  int64_t rows, width, x_stride, f_stride, y_stride, s_stride;
  float *y, *s;
} Call;

static Call good_call(void) {
  Call c;
  memset(&c, 0, sizeof(c));
  c.rows = ROWS;
  c.width = WIDTH;
  c.x_stride = c.f_stride = c.y_stride = c.s_stride = 32;
  c.x = room;
  c.f = other;
  c.y = room + ROOM / 2;
  c.s = other + ROOM / 2;
  return c;
}

static resid_status run(Call c) {
  return strided_layer(NULL, c.x, c.rows, c.width, c.x_stride, c.f, c.rows, c.width, c.f_stride, gamma_, c.width, c.y,
                       c.y_stride, c.s, c.s_stride);
}

static void expect_after(resid_status expected, Call call, const char *change) {
  resid_status got = run(call);
  if (got == expected)
    return;
  printf("%s: expected %d but got %d\n", change, (int)expected, (int)got);
  ++failures;
}

#define EXPECT_AFTER(status, change)                                                                                   \
  do {                                                                                                                 \
    Call c = good_call();                                                                                              \
    change;                                                                                                            \
    expect_after(status, c, #change);                                                                                  \
  } while (0)

static void check_strides(void) {
  EXPECT_AFTER(RESID_OK, (void)0);
  EXPECT_AFTER(RESID_OK, c.x_stride = c.f_stride = c.y_stride = c.s_stride = WIDTH);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x_stride = WIDTH - 1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.s_stride = 0);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.y_stride = -32);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.y_stride = INT64_MIN);
  EXPECT_AFTER(RESID_BAD_SHAPE, (c.rows = 1, c.x_stride = WIDTH - 1));
  EXPECT_AFTER(RESID_BAD_SHAPE, (c.rows = 0, c.f_stride = WIDTH - 1));
  /* 4 rows of 2^43 floats are exactly 2^47 bytes; more, and products that wrap around, are not. Such arrays overlap
   * whatever stands after them. */
  EXPECT_AFTER(RESID_ALIAS, c.y_stride = (int64_t)1 << 43);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.y_stride = ((int64_t)1 << 43) + 1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x_stride = (int64_t)1 << 60);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x_stride = (int64_t)1 << 62);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x_stride = INT64_MAX);
  EXPECT_AFTER(RESID_BAD_POINTER, c.x = NULL);
  EXPECT_AFTER(RESID_OK, (c.rows = 0, c.x = c.f = NULL, c.y = c.s = NULL));
}

static void check_in_place(void) {
  EXPECT_AFTER(RESID_OK, c.y = room);
  EXPECT_AFTER(RESID_OK, (c.y = other, c.s = room));
  EXPECT_AFTER(RESID_ALIAS, (c.y = room, c.y_stride = 40));
  EXPECT_AFTER(RESID_ALIAS, (c.y = room, c.y_stride = 24));
  EXPECT_AFTER(RESID_ALIAS, c.y = c.s);
  /* One row is the same row whatever the stride. */
  EXPECT_AFTER(RESID_OK, (c.rows = 1, c.y = room, c.y_stride = 40));
  EXPECT_AFTER(RESID_ALIAS, (c.rows = 1, c.y = room + 1));
}

static void check_interleaved(void) {
  EXPECT_AFTER(RESID_OK, c.y = room + WIDTH);
  EXPECT_AFTER(RESID_OK, (c.y = room + WIDTH, c.s = room + 2 * WIDTH));
  EXPECT_AFTER(RESID_OK, c.y = room + 32 - WIDTH);
  EXPECT_AFTER(RESID_OK, c.y = room + 2 * 32 + WIDTH);          /* begins two rows later, in columns of its own */
  EXPECT_AFTER(RESID_OK, (c.x = room + WIDTH, c.y = room));     /* the output first */
  EXPECT_AFTER(RESID_OK, (c.x = room + 64 + WIDTH, c.y = room));
  EXPECT_AFTER(RESID_ALIAS, c.y = room + WIDTH - 1);            /* a shared column */
  EXPECT_AFTER(RESID_ALIAS, c.y = room + 1);
  EXPECT_AFTER(RESID_ALIAS, c.y = room + 32 - WIDTH + 1);       /* the end of a row in the next row of x */
  EXPECT_AFTER(RESID_ALIAS, c.y = room + 32);                   /* the same columns, a row later */
  EXPECT_AFTER(RESID_ALIAS, (c.x = room + WIDTH - 1, c.y = room));
  EXPECT_AFTER(RESID_ALIAS, (c.x = room + 32, c.y = room));
  EXPECT_AFTER(RESID_ALIAS, (c.y = room + WIDTH, c.y_stride = 33)); /* other strides move into each other's columns */
  EXPECT_AFTER(RESID_ALIAS, (c.s = room + WIDTH, c.y = room + WIDTH + 4)); /* two outputs */
  EXPECT_AFTER(RESID_ALIAS, c.y = (float *)(void *)((char *)(room + WIDTH) - 1));
  EXPECT_AFTER(RESID_OK, c.y = (float *)(void *)((char *)(room + WIDTH) + 1));
  EXPECT_AFTER(RESID_OK, c.y = room + 3 * 32 + WIDTH);          /* after the last row of x */
}

static void check_info(void) {
  const char *expected = "(tensor<?x?xf32> {resid.strided}, tensor<?x?xf32> {resid.strided}, tensor<?xf32>) -> "
                         "(tensor<?x?xf32> {resid.strided}, tensor<?x?xf32> {resid.strided})";
  if (strcmp(strided_layer_info()->signature, expected) == 0)
    return;
  printf("expected another signature than %s\n", strided_layer_info()->signature);
  ++failures;
}

int main(void) {
  check_strides();
  check_in_place();
  check_interleaved();
  check_info();
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
