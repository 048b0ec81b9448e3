// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints what functions say to resid_ctx.log where they refuse, with the status, and whether anything was written.
// Compiled as C11 and as C++11.

#include "refusals.h"

#include <stdio.h>
#include <string.h>

enum { COUNT = 64 };
static float x[COUNT], f[COUNT], gamma_[COUNT], out[COUNT];
static char last_line[2048];

static void keep_line(void *user, int32_t level, const char *text) {
  if (level == RESID_LOG_ERROR && user == (void *)x)
    strncpy(last_line, text, sizeof(last_line) - 1);
}

static void *no_memory(void *user, size_t bytes, size_t alignment) {
  (void)user, (void)bytes, (void)alignment;
  return NULL;
}
static void free_nothing(void *user, void *ptr) { (void)user, (void)ptr; }

static resid_ctx make_context(void) {
  resid_ctx ctx = RESID_CTX_INIT;
  ctx.user = (void *)x;
  ctx.log = keep_line;
  return ctx;
}
static resid_ctx ctx;

static void fill(void) {
  int i;
  for (i = 0; i < COUNT; ++i)
    x[i] = f[i] = gamma_[i] = out[i] = 1.0f + (float)i;
}

static int is_untouched(void) {
  int i;
  for (i = 0; i < COUNT; ++i)
    if (x[i] != 1.0f + (float)i || f[i] != x[i] || gamma_[i] != x[i] || out[i] != x[i])
      return 0;
  return 1;
}

static void show(resid_status status) {
  printf("%d %s: %s\n", (int)status, is_untouched() ? "untouched" : "written", last_line);
  last_line[0] = '\0';
  fill();
}

static void check_arrays(void) {
  const int64_t huge = (int64_t)1 << 46;
  show(norm(&ctx, NULL, 2, 8, f, 2, 8, gamma_, 8, out));
  show(norm(&ctx, x, 2, 8, f, 2, 8, gamma_, 8, NULL));
  show(norm(&ctx, x, 2, 8, f, 1, 8, gamma_, 8, out));
  show(norm(&ctx, x, 2, 8, f, 2, 8, gamma_, 7, out));
  show(norm(&ctx, x, -2, 8, f, -2, 8, gamma_, 8, out));
  show(norm(&ctx, x, huge, 8, f, huge, 8, gamma_, 8, out));
  show(norm(&ctx, x, 2, 8, f, 2, 8, gamma_, 8, x + 1));
  show(norm(&ctx, x, 2, 8, f, 2, 8, gamma_, 8, gamma_));
  show(groups(&ctx, x, 2, 7, out));
  show(expand(&ctx, x, 6, out));
  show(expand(&ctx, x, 4, x + 1));
  show(sized(&ctx, x, 4, f, 0, out, out + 1));
  show(sized(&ctx, x, 1, f, 3, out, out + 1));
  show(sized(&ctx, x, (int64_t)1 << 25, f, 2, out, out + 1));
  show(strided(&ctx, x, 2, 7, out, 8));
  show(strided(&ctx, x, 2, 8, out, INT64_MAX));
  show(strided(&ctx, x, 2, 16, x + 4, 16));
  show(strided(&ctx, x, 2, 16, x + 8, 17));
  show(strided(&ctx, x + 12, 2, 16, x, 16));
}

static void check_values(void) {
  show(drop(&ctx, x, 2, 1, -1, 0, 0, out));
  show(drop(&ctx, x, 2, 1, -1, 0, 0, x)); /* in place */
  show(drop(&ctx, x, 2, 1, 1, -5, 0, out));
  show(drop(&ctx, x, 2, 1, 1, 0xffffffff, 0, out));
  show(drop(&ctx, x, 2, 1, 1, 0, -4, out));
  show(checked(&ctx, x, -1, 1.0f, out));
  show(checked(&ctx, x, 1, -1.0f, out));
  show(turns(&ctx, x, 0, 0, out));
  show(turns(&ctx, x, 0, -3, out));
  show(turns(&ctx, x, 2, 1, out));
  show(loop(&ctx, x, 1, -1, out));
  show(loop(&ctx, x, 0, -1, out));
  /* Only here may something be written. */
  show((x[0] = -1.0f, inside(&ctx, x, out)));
  show(turns(&ctx, x, 0, 1, out));
}

static void check_context(void) {
  resid_ctx other = ctx, silent = RESID_CTX_INIT;
  show(scratch(&ctx, x, 1, f, out));
  ctx.alloc = no_memory;
  show(scratch(&ctx, x, 1, f, out));
  ctx.free = free_nothing;
  show(scratch(&ctx, x, 1, f, out));
  other.abi_version = 2;
  show(norm(&other, x, 2, 8, f, 2, 8, gamma_, 8, out));
  /* No version, but memory that nobody filled in. */
  other.abi_version = 0xdeadbeef;
  show(norm(&other, x, 2, 8, f, 2, 8, gamma_, 8, out));
  show(norm(&silent, x, 2, 7, f, 2, 8, gamma_, 8, out));
  show(norm(NULL, x, 2, 7, f, 2, 8, gamma_, 8, out));
}

static DLTensor tensors[4];
static int64_t shapes[4][2], strides[2];
static const DLTensor *args[4] = {&tensors[0], &tensors[1], &tensors[2], &tensors[3]};

static void make_tensors(void) {
  float *data[4] = {x, f, gamma_, out};
  int i;
  memset(tensors, 0, sizeof(tensors));
  for (i = 0; i < 4; ++i) {
    shapes[i][0] = i == 2 ? 8 : 2, shapes[i][1] = 8;
    tensors[i].data = data[i];
    tensors[i].device.device_type = kDLCPU;
    tensors[i].ndim = i == 2 ? 1 : 2;
    tensors[i].dtype.code = kDLFloat, tensors[i].dtype.bits = 32, tensors[i].dtype.lanes = 1;
    tensors[i].shape = shapes[i];
    args[i] = &tensors[i];
  }
}

#define SHOW_AFTER(change)                                                                                             \
  do {                                                                                                                 \
    make_tensors();                                                                                                    \
    change;                                                                                                            \
    show(norm_dl(&ctx, args, 4));                                                                                      \
  } while (0)

static void check_tensors(void) {
  make_tensors();
  show(norm_dl(&ctx, args, 3));
  show(norm_dl(&ctx, NULL, 4));
  SHOW_AFTER(args[1] = NULL);
  SHOW_AFTER(tensors[0].device.device_type = kDLCUDA);
  SHOW_AFTER(tensors[2].dtype.bits = 64);
  SHOW_AFTER((tensors[2].dtype.code = kDLBfloat, tensors[2].dtype.bits = 16, tensors[2].dtype.lanes = 4));
  SHOW_AFTER(tensors[3].ndim = 1);
  SHOW_AFTER(tensors[0].shape = NULL);
  SHOW_AFTER(shapes[0][1] = -8);
  SHOW_AFTER(shapes[3][0] = 3);
  SHOW_AFTER((strides[0] = 9, strides[1] = 1, tensors[1].strides = strides));
  SHOW_AFTER(shapes[1][0] = 1);
}

int main(void) {
  ctx = make_context();
  fill();
  check_arrays();
  check_values();
  check_context();
  check_tensors();
  return 0;
}
