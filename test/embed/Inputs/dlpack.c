/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The functions on DLPack tensors beside those on pointers: the same bits, and every mistake of a tensor answered.
 * Compiled as C11 and as C++11, with DLPack's header before resid's, and without. */

#ifdef WITH_DLPACK_HEADER
#include "dlpack/dlpack.h"
#endif
#include "dlpack_kernels.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 3, WIDTH = 8, COUNT = ROWS * WIDTH, RANK = 3 };

static int failures = 0;

static void expect(resid_status expected, resid_status got, const char *what) {
  if (expected == got)
    return;
  printf("%s: expected %d but got %d\n", what, (int)expected, (int)got);
  ++failures;
}

static void expect_true(int good, const char *what) {
  if (good)
    return;
  printf("expected %s\n", what);
  ++failures;
}

/* A tensor with the memory of its shape and strides. */
typedef struct Tensor {
  DLTensor tensor;
  int64_t shape[RANK], strides[RANK];
} Tensor;

/* Row-major, the strides said or not. */
static void make(Tensor *t, void *data, int code, int bits, int32_t rank, int64_t d0, int64_t d1, int64_t d2) {
  int32_t i;
  memset(t, 0, sizeof(*t));
  t->shape[0] = d0, t->shape[1] = d1, t->shape[2] = d2;
  t->tensor.data = data;
  t->tensor.device.device_type = kDLCPU;
  t->tensor.ndim = rank;
  t->tensor.dtype.code = (uint8_t)code, t->tensor.dtype.bits = (uint8_t)bits, t->tensor.dtype.lanes = 1;
  t->tensor.shape = rank ? t->shape : NULL;
  for (i = rank; i > 0; --i)
    t->strides[i - 1] = i == rank ? 1 : t->strides[i] * t->shape[i];
}

static float x[COUNT + 8], gamma_[WIDTH], y[COUNT + 8], d[COUNT + 8];
static int64_t seed, step;

/* The six tensors of one call of norm, good to begin with. */
typedef struct Call {
  Tensor x, gamma, seed, step, y, d;
  const DLTensor *args[6];
  int32_t n;
} Call;

static void good_call(Call *c) {
  int i;
  for (i = 0; i < COUNT + 8; ++i)
    x[i] = (float)((i * 37) % 101) / 50.0f - 1.0f;
  for (i = 0; i < WIDTH; ++i)
    gamma_[i] = 1.0f + (float)i / 100.0f;
  seed = 7, step = 1;
  make(&c->x, x, kDLFloat, 32, 2, ROWS, WIDTH, 0);
  make(&c->gamma, gamma_, kDLFloat, 32, 1, WIDTH, 0, 0);
  make(&c->seed, &seed, kDLInt, 64, 0, 0, 0, 0);
  make(&c->step, &step, kDLInt, 64, 0, 0, 0, 0);
  make(&c->y, y, kDLFloat, 32, 2, ROWS, WIDTH, 0);
  make(&c->d, d, kDLFloat, 32, 2, ROWS, WIDTH, 0);
  c->args[0] = &c->x.tensor, c->args[1] = &c->gamma.tensor, c->args[2] = &c->seed.tensor;
  c->args[3] = &c->step.tensor, c->args[4] = &c->y.tensor, c->args[5] = &c->d.tensor;
  c->n = 6;
}

#define EXPECT_AFTER(status, change)                                                                                   \
  do {                                                                                                                 \
    Call c;                                                                                                            \
    good_call(&c);                                                                                                     \
    change;                                                                                                            \
    expect(status, norm_dl(NULL, c.args, c.n), #change);                                                               \
  } while (0)

static void check_values(void) {
  static float expected_y[COUNT], expected_d[COUNT];
  Call c;
  good_call(&c);
  expect(RESID_OK, norm(NULL, x, ROWS, gamma_, seed, step, expected_y, expected_d), "norm on pointers");
  memset(y, 0, sizeof(y));
  memset(d, 0, sizeof(d));
  expect(RESID_OK, norm_dl(NULL, c.args, 6), "norm on tensors");
  expect_true(memcmp(y, expected_y, sizeof(expected_y)) == 0, "the same norm");
  expect_true(memcmp(d, expected_d, sizeof(expected_d)) == 0, "the same dropout, so the same seed and step");
  /* Data that begins later, and strides that are said. */
  memset(y, 0, sizeof(y));
  memmove(x + 5, x, sizeof(float) * COUNT);
  c.x.tensor.byte_offset = 5 * sizeof(float);
  c.x.tensor.strides = c.x.strides;
  c.y.tensor.strides = c.y.strides;
  c.gamma.tensor.strides = c.gamma.strides;
  expect(RESID_OK, norm_dl(NULL, c.args, 6), "norm on tensors with an offset");
  expect_true(memcmp(y, expected_y, sizeof(expected_y)) == 0, "the same norm with an offset");
}

static void check_pointers(void) {
  EXPECT_AFTER(RESID_OK, (void)0);
  EXPECT_AFTER(RESID_BAD_POINTER, c.args[0] = NULL);
  EXPECT_AFTER(RESID_BAD_POINTER, c.args[5] = NULL);
  EXPECT_AFTER(RESID_BAD_POINTER, c.args[2] = NULL);
  EXPECT_AFTER(RESID_BAD_POINTER, c.x.tensor.data = NULL);
  EXPECT_AFTER(RESID_BAD_POINTER, (c.x.tensor.data = NULL, c.x.tensor.byte_offset = 64));
  EXPECT_AFTER(RESID_BAD_POINTER, c.seed.tensor.data = NULL);
  EXPECT_AFTER(RESID_BAD_POINTER, c.x.tensor.shape = NULL);
  EXPECT_AFTER(RESID_BAD_POINTER, c.d.tensor.data = NULL);
  EXPECT_AFTER(RESID_OK, (c.x.shape[0] = c.y.shape[0] = c.d.shape[0] = 0,
                          c.x.tensor.data = c.y.tensor.data = c.d.tensor.data = NULL));
  expect(RESID_BAD_POINTER, norm_dl(NULL, NULL, 6), "no tensors");
  expect(RESID_OK, nothing_dl(NULL, NULL, 0), "nothing on nothing");
  expect(RESID_BAD_SHAPE, nothing_dl(NULL, NULL, 1), "nothing on something");
}

static void check_shapes(void) {
  EXPECT_AFTER(RESID_BAD_SHAPE, c.n = 5);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.n = 7);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.n = -1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x.tensor.ndim = 3);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x.tensor.ndim = 1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x.tensor.ndim = -1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.seed.tensor.ndim = 1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x.shape[1] = WIDTH - 1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x.shape[0] = -1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x.shape[0] = c.y.shape[0] = c.d.shape[0] = -1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.gamma.shape[0] = 1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.y.shape[0] = ROWS + 1); /* results have a shape too */
  EXPECT_AFTER(RESID_BAD_SHAPE, c.d.shape[1] = WIDTH + 1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x.shape[0] = c.y.shape[0] = c.d.shape[0] = (int64_t)1 << 60);
}

static void check_types_and_places(void) {
  EXPECT_AFTER(RESID_BAD_DTYPE, c.x.tensor.dtype.code = kDLInt);
  EXPECT_AFTER(RESID_BAD_DTYPE, c.x.tensor.dtype.bits = 64);
  EXPECT_AFTER(RESID_BAD_DTYPE, c.x.tensor.dtype.lanes = 4);
  EXPECT_AFTER(RESID_BAD_DTYPE, c.y.tensor.dtype.bits = 16);
  EXPECT_AFTER(RESID_BAD_DTYPE, c.seed.tensor.dtype.code = kDLUInt);
  EXPECT_AFTER(RESID_UNSUPPORTED, c.x.tensor.device.device_type = kDLCUDA);
  EXPECT_AFTER(RESID_UNSUPPORTED, c.d.tensor.device.device_type = kDLCUDA);
  EXPECT_AFTER(RESID_OK, c.d.tensor.device.device_id = 3);
  EXPECT_AFTER(RESID_UNSUPPORTED, (c.x.tensor.strides = c.x.strides, c.x.strides[0] = WIDTH + 1));
  EXPECT_AFTER(RESID_UNSUPPORTED, (c.x.tensor.strides = c.x.strides, c.x.strides[1] = 2));
  EXPECT_AFTER(RESID_UNSUPPORTED, (c.gamma.tensor.strides = c.gamma.strides, c.gamma.strides[0] = -1));
  /* A dimension of one element takes no step, and no elements have no order. */
  EXPECT_AFTER(RESID_OK, (c.x.shape[0] = c.y.shape[0] = c.d.shape[0] = 1, c.x.tensor.strides = c.x.strides,
                          c.x.strides[0] = 1234));
  EXPECT_AFTER(RESID_OK, (c.x.shape[0] = c.y.shape[0] = c.d.shape[0] = 0, c.x.tensor.strides = c.x.strides,
                          c.x.strides[0] = c.x.strides[1] = 0));
  EXPECT_AFTER(RESID_BAD_VALUE, step = -1); /* what the function itself answers */
}

static void check_context(void) {
  resid_ctx ctx;
  Call c;
  memset(&ctx, 0, sizeof(ctx));
  good_call(&c);
  expect(RESID_VERSION, norm_dl(&ctx, c.args, 6), "a context without a version");
  ctx.abi_version = RESID_ABI_VERSION + 1;
  expect(RESID_VERSION, norm_dl(&ctx, c.args, 6), "a context of another version");
  ctx.abi_version = RESID_ABI_VERSION;
  expect(RESID_OK, norm_dl(&ctx, c.args, 6), "a context of this version");
}

static void check_aliases(void) {
  static float expected[COUNT];
  Call c;
  EXPECT_AFTER(RESID_ALIAS, c.d.tensor.data = y);
  EXPECT_AFTER(RESID_ALIAS, c.y.tensor.data = x + 1);
  EXPECT_AFTER(RESID_ALIAS, (c.y.tensor.data = x, c.y.tensor.byte_offset = sizeof(float)));
  EXPECT_AFTER(RESID_ALIAS, c.y.tensor.data = gamma_);
  good_call(&c);
  expect(RESID_OK, norm_dl(NULL, c.args, 6), "apart");
  memcpy(expected, y, sizeof(expected));
  c.y.tensor.data = x;
  expect(RESID_OK, norm_dl(NULL, c.args, 6), "in place");
  expect_true(memcmp(x, expected, sizeof(expected)) == 0, "the same norm in place");
  good_call(&c);
  memmove((char *)x + 1, x, sizeof(expected));
  c.x.tensor.data = (char *)x + 1;
  c.y.tensor.data = (char *)y + 3;
  expect(RESID_OK, norm_dl(NULL, c.args, 6), "misaligned");
  expect_true(memcmp((char *)y + 3, expected, sizeof(expected)) == 0, "the same norm misaligned");
}

static resid_status run_strided(int64_t outer, int64_t s0, int64_t s1, int64_t s2) {
  static float in[64 * 8], f[COUNT], out[64 * 8];
  Tensor a, b, c;
  const DLTensor *args[3];
  make(&a, in, kDLFloat, 32, 3, outer, ROWS / outer, WIDTH);
  make(&b, f, kDLFloat, 32, 3, outer, ROWS / outer, WIDTH);
  make(&c, out, kDLFloat, 32, 3, outer, ROWS / outer, WIDTH);
  a.tensor.strides = a.strides;
  a.strides[0] = s0, a.strides[1] = s1, a.strides[2] = s2;
  c.tensor.strides = c.strides;
  c.strides[0] = 11 * (ROWS / outer), c.strides[1] = 11;
  args[0] = &a.tensor, args[1] = &b.tensor, args[2] = &c.tensor;
  in[20] = 5; /* row 1 of rows that are 20 apart */
  return strided_dl(NULL, args, 3) == RESID_OK ? (out[11] == 5 ? RESID_OK : 1) : strided_dl(NULL, args, 3);
}

static void check_strides(void) {
  expect(RESID_OK, run_strided(1, 60, 20, 1), "rows 20 apart");
  expect(RESID_OK, run_strided(1, 7, 20, 1), "rows 20 apart in one block, which takes no step");
  expect(RESID_OK, run_strided(3, 20, 7, 1), "blocks of one row, 20 apart");
  expect(RESID_UNSUPPORTED, run_strided(3, 20, 7, 2), "columns apart");
  expect(RESID_BAD_SHAPE, run_strided(1, 21, 7, 1), "rows that overlap");
  expect(RESID_BAD_SHAPE, run_strided(1, 0, 0, 1), "rows that are one");
}

static void check_uneven_rows(void) {
  static float in[256], f[32], out[32];
  Tensor a, b, c;
  const DLTensor *args[3];
  make(&a, in, kDLFloat, 32, 3, 2, 2, WIDTH);
  make(&b, f, kDLFloat, 32, 3, 2, 2, WIDTH);
  make(&c, out, kDLFloat, 32, 3, 2, 2, WIDTH);
  a.tensor.strides = a.strides;
  a.strides[0] = 40, a.strides[1] = 20;
  args[0] = &a.tensor, args[1] = &b.tensor, args[2] = &c.tensor;
  expect(RESID_OK, strided_dl(NULL, args, 3), "rows evenly apart in two blocks");
  a.strides[0] = 50;
  expect(RESID_UNSUPPORTED, strided_dl(NULL, args, 3), "blocks further apart than their rows");
}

static void check_every_type(void) {
  static const uint8_t codes[13] = {kDLFloat, kDLBfloat, kDLFloat, kDLInt,    kDLInt,  kDLInt, kDLInt,
                                    kDLInt,   kDLBool,   kDLFloat, kDLBfloat, kDLBool, kDLInt};
  static const uint8_t bits[13] = {16, 16, 64, 8, 16, 32, 64, 64, 8, 32, 16, 8, 64};
  static unsigned char in[13][16], out[13][16];
  Tensor tensors[26];
  const DLTensor *args[26];
  int i, j;
  for (i = 0; i < 13; ++i) {
    int32_t rank = i < 9 ? 1 : 0;
    for (j = 0; j < 16; ++j)
      in[i][j] = (unsigned char)(codes[i] == kDLBool ? (i + j) % 2 : 16 * i + j);
    make(&tensors[i], in[i], codes[i], bits[i], rank, 2, 0, 0);
    make(&tensors[13 + i], out[i], codes[i], bits[i], rank, 2, 0, 0);
    args[i] = &tensors[i].tensor;
    args[13 + i] = &tensors[13 + i].tensor;
  }
  expect(RESID_OK, types_dl(NULL, args, 26), "every element type");
  for (i = 0; i < 13; ++i)
    expect_true(memcmp(in[i], out[i], (size_t)(bits[i] / 8 * (i < 9 ? 2 : 1))) == 0, "the bytes of every element type");
  for (i = 0; i < 26; ++i) {
    tensors[i].tensor.dtype.code ^= 1;
    expect(RESID_BAD_DTYPE, types_dl(NULL, args, 26), "another code");
    tensors[i].tensor.dtype.code ^= 1;
    tensors[i].tensor.dtype.bits ^= 24;
    expect(RESID_BAD_DTYPE, types_dl(NULL, args, 26), "other bits");
    tensors[i].tensor.dtype.bits ^= 24;
  }
}

int main(void) {
  expect_true(sizeof(DLTensor) == 48, "DLPack's layout");
  check_values();
  check_pointers();
  check_shapes();
  check_types_and_places();
  check_context();
  check_aliases();
  check_strides();
  check_uneven_rows();
  check_every_type();
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
