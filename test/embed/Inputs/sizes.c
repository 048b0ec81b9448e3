/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What functions answer where sizes follow from other sizes. Without a context throughout: nothing here takes scratch
 * memory. Whether the values are right is for resid-run to say, but for a few that show where they went. */

#include "sizes.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int64_t expected, int64_t got, const char *what) {
  if (expected == got)
    return;
  printf("%s: expected %lld but got %lld\n", what, (long long)expected, (long long)got);
  ++failures;
}

static float x[2 * 3 * 8], y[8 * 8], rows[14 * 8], expanded[8 * 8], guard = 7;

static DLTensor make(float *data, int32_t rank, int64_t *shape) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = rank;
  tensor.dtype.code = kDLFloat, tensor.dtype.bits = 32, tensor.dtype.lanes = 1;
  tensor.shape = shape;
  return tensor;
}

static resid_status join_tensors(int64_t y_rows, int64_t out_rows, int64_t blocks) {
  int64_t shape0[3] = {2, 3, 8}, shape1[2] = {0, 8}, shape2[2] = {0, 8}, shape3[3] = {0, 4, 8};
  DLTensor tensors[4];
  const DLTensor *args[4];
  int i;
  shape1[0] = y_rows, shape2[0] = out_rows, shape3[0] = blocks;
  tensors[0] = make(x, 3, shape0), tensors[1] = make(y, 2, shape1);
  tensors[2] = make(rows, 2, shape2), tensors[3] = make(expanded, 3, shape3);
  for (i = 0; i < 4; ++i)
    args[i] = &tensors[i];
  return join_dl(NULL, args, 4);
}

static void test_join(void) {
  int i;
  for (i = 0; i < 2 * 3 * 8; ++i)
    x[i] = (float)i;
  for (i = 0; i < 8 * 8; ++i)
    y[i] = (float)(100 + i);
  rows[14 * 8 - 1] = guard;
  expect(RESID_OK, join(NULL, x, 2, y, 4, rows, expanded), "join");
  expect(47, (int64_t)rows[6 * 8 - 1], "the last of x");
  expect(131, (int64_t)rows[10 * 8 - 1], "the last of y");
  expect(131, (int64_t)expanded[4 * 8 - 1], "the last of the blocks");
  expect(7, (int64_t)rows[14 * 8 - 1], "what is after the result");
  expect(RESID_BAD_SHAPE, join(NULL, x, 2, y, 5, rows, expanded), "5 rows in blocks of 4");
  expect(RESID_BAD_SHAPE, join(NULL, x, 2, y, -4, rows, expanded), "a negative size");
  expect(RESID_OK, join(NULL, x, 2, y, 0, rows, NULL), "no blocks");
  expect(RESID_OK, join(NULL, NULL, 0, NULL, 0, NULL, NULL), "no elements");
  expect(RESID_BAD_POINTER, join(NULL, x, 2, y, 0, NULL, NULL), "no memory for x's rows");
  expect(RESID_ALIAS, join(NULL, x, 2, y, 4, rows, rows + 9 * 8), "blocks in the last row");
  expect(RESID_OK, join(NULL, x, 2, y, 4, rows, rows + 10 * 8), "blocks after the last row");
  /* Each array is small enough, their concatenation is not. */
  expect(0, join_scratch_bytes((int64_t)1 << 40, (int64_t)1 << 39), "scratch memory");
  expect(RESID_BAD_SHAPE, join_scratch_bytes((int64_t)1 << 40, (int64_t)1 << 42), "too many rows together");
  expect(RESID_BAD_SHAPE, join_scratch_bytes(INT64_MAX / 2, INT64_MAX - 3), "a sum past 2^63");

  expect(RESID_OK, join_tensors(4, 10, 1), "join of tensors");
  expect(RESID_BAD_SHAPE, join_tensors(4, 9, 1), "tensors: a row too few");
  expect(RESID_BAD_SHAPE, join_tensors(4, 10, 2), "tensors: a block too many");
  expect(RESID_BAD_SHAPE, join_tensors(5, 11, 1), "tensors: 5 rows in blocks of 4");
  expect(RESID_OK, join_tensors(0, 6, 0), "tensors: no blocks");
}

static void test_outer(void) {
  static float a[3] = {1, 2, 3}, b[2] = {10, 20}, product[6];
  expect(RESID_OK, outer(NULL, a, 3, b, 2, product), "outer");
  expect(60, (int64_t)product[5], "the last product");
  expect(RESID_OK, outer(NULL, a, 3, NULL, 0, NULL), "a product without elements");
  expect(0, outer_scratch_bytes((int64_t)1 << 20, (int64_t)1 << 25), "a product of 2^47 bytes");
  expect(RESID_BAD_SHAPE, outer_scratch_bytes((int64_t)1 << 30, (int64_t)1 << 30), "a product past 2^47");
  expect(RESID_BAD_SHAPE, outer_scratch_bytes((int64_t)1 << 32, (int64_t)1 << 32), "a product past 2^63");
}

static void test_flat_norm(void) {
  static float in[2 * 3 * 8 + 1], apart[2 * 3 * 8], together[2 * 3 * 8];
  int i;
  for (i = 0; i < 2 * 3 * 8; ++i)
    in[i] = together[i] = (float)(i % 7);
  expect(RESID_OK, flat_norm(NULL, in, 2, 3, apart), "flat_norm");
  expect(RESID_OK, flat_norm(NULL, together, 2, 3, together), "flat_norm in place");
  expect(0, memcmp(apart, together, sizeof(apart)), "flat_norm: in place, the same bits");
  expect(RESID_ALIAS, flat_norm(NULL, in, 2, 3, in + 1), "flat_norm: an overlap");
  expect(RESID_OK, flat_norm(NULL, NULL, 2, 0, NULL), "flat_norm: no rows");
  expect(RESID_BAD_SHAPE, flat_norm_scratch_bytes((int64_t)1 << 40, (int64_t)1 << 40), "flat_norm: too many rows");
}

static void test_drop_bias(void) {
  static float in[2 * 8], bias[8], out[2 * 8];
  expect(RESID_OK, drop_bias(NULL, in, 2, 8, bias, 1, 2, out), "drop_bias");
  expect(RESID_BAD_SHAPE, drop_bias(NULL, in, 2, 7, bias, 1, 2, out), "drop_bias: another width");
  expect(RESID_OK, drop_bias(NULL, NULL, 0, 8, bias, 1, 2, NULL), "drop_bias: no rows");
  expect(0, drop_bias_scratch_bytes(2, 8), "drop_bias: scratch memory");
}

int main(void) {
  test_join();
  test_outer();
  test_flat_norm();
  test_drop_bias();
  printf("%d failures\n", failures);
  return failures != 0;
}
