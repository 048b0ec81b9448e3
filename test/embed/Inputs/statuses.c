// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a generated function answers to good and bad arguments. Compiled as C11 and as C++11.

#include "statuses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 5, WIDTH = 70, COUNT = ROWS * WIDTH };

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

/* All arguments of one call, good to begin with. */
typedef struct Call {
  const resid_ctx *ctx;
  const float *x, *f, *gamma, *beta;
  int64_t x0, x1, f0, f1, gamma0, beta0, seed, step, row, site;
  float *normalized, *sum;
} Call;

static float x[COUNT + 1], f[COUNT + 1], gamma_[WIDTH], beta_[WIDTH], normalized[COUNT + 1], sum[COUNT + 1];

static Call good_call(void) {
  Call c;
  int i;
  for (i = 0; i < COUNT; ++i) {
    x[i] = (float)((i * 37) % 101) / 50.0f - 1.0f;
    f[i] = (float)((i * 53) % 97) / 70.0f - 0.5f;
  }
  for (i = 0; i < WIDTH; ++i) {
    gamma_[i] = 1.0f + (float)i / 100.0f;
    beta_[i] = (float)i / 50.0f;
  }
  memset(&c, 0, sizeof(c));
  c.x = x, c.f = f, c.gamma = gamma_, c.beta = beta_;
  c.x0 = c.f0 = ROWS;
  c.x1 = c.f1 = c.gamma0 = c.beta0 = WIDTH;
  c.seed = 7, c.step = 1, c.row = 100, c.site = 2;
  c.normalized = normalized, c.sum = sum;
  return c;
}

static resid_status run(Call c) {
  return post(c.ctx, c.x, c.x0, c.x1, c.f, c.f0, c.f1, c.gamma, c.gamma0, c.beta, c.beta0, c.seed, c.step, c.row,
              c.site, c.normalized, c.sum);
}

#define EXPECT_AFTER(status, change)                                                                                   \
  do {                                                                                                                 \
    Call c = good_call();                                                                                              \
    change;                                                                                                            \
    expect(status, run(c), #change);                                                                                   \
  } while (0)

static void check_pointers(void) {
  EXPECT_AFTER(RESID_OK, (void)0);
  EXPECT_AFTER(RESID_BAD_POINTER, c.x = NULL);
  EXPECT_AFTER(RESID_BAD_POINTER, c.f = NULL);
  EXPECT_AFTER(RESID_BAD_POINTER, c.gamma = NULL);
  EXPECT_AFTER(RESID_BAD_POINTER, c.beta = NULL);
  EXPECT_AFTER(RESID_BAD_POINTER, c.normalized = NULL);
  EXPECT_AFTER(RESID_BAD_POINTER, c.sum = NULL);
  EXPECT_AFTER(RESID_OK, (c.x0 = c.f0 = 0, c.x = c.f = NULL, c.normalized = c.sum = NULL));
  EXPECT_AFTER(RESID_OK, (c.x1 = c.f1 = c.gamma0 = c.beta0 = 0, c.x = c.f = c.gamma = c.beta = NULL,
                          c.normalized = c.sum = NULL));
}

static void check_shapes(void) {
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x0 = -1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x0 = c.f0 = -1);
  EXPECT_AFTER(RESID_BAD_SHAPE, (c.x1 = c.f1 = -1, c.gamma0 = c.beta0 = -1));
  EXPECT_AFTER(RESID_BAD_SHAPE, c.f0 = ROWS - 1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.f1 = WIDTH - 1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.gamma0 = WIDTH - 1);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.beta0 = 1);
  /* Past 2^47 bytes, past 2^63, and a product that wraps around to a small number. */
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x0 = c.f0 = (int64_t)1 << 40);
  EXPECT_AFTER(RESID_BAD_SHAPE, c.x0 = c.f0 = INT64_MAX);
  EXPECT_AFTER(RESID_BAD_SHAPE, (c.x0 = c.f0 = (int64_t)1 << 62, c.x1 = c.f1 = c.gamma0 = c.beta0 = 4));
}

static void check_values(void) {
  EXPECT_AFTER(RESID_BAD_VALUE, c.step = -1);
  EXPECT_AFTER(RESID_BAD_VALUE, c.step = (int64_t)1 << 32);
  EXPECT_AFTER(RESID_BAD_VALUE, c.row = -1);
  EXPECT_AFTER(RESID_BAD_VALUE, c.row = (int64_t)1 << 32);
  EXPECT_AFTER(RESID_BAD_VALUE, c.row = ((int64_t)1 << 32) - ROWS + 1);
  EXPECT_AFTER(RESID_OK, c.row = ((int64_t)1 << 32) - ROWS);
  EXPECT_AFTER(RESID_BAD_VALUE, c.site = ((int64_t)1 << 32) - 3);
  EXPECT_AFTER(RESID_BAD_VALUE, c.site = -4);
  EXPECT_AFTER(RESID_BAD_VALUE, c.site = INT64_MAX);
  EXPECT_AFTER(RESID_OK, c.step = ((int64_t)1 << 32) - 1);
  EXPECT_AFTER(RESID_OK, c.seed = -1);
}

static void check_aliases(void) {
  EXPECT_AFTER(RESID_ALIAS, c.sum = c.normalized);
  EXPECT_AFTER(RESID_ALIAS, c.sum = x + 1);
  EXPECT_AFTER(RESID_ALIAS, (c.normalized = f + 1));
  EXPECT_AFTER(RESID_ALIAS, c.normalized = gamma_);
  EXPECT_AFTER(RESID_ALIAS, c.sum = beta_);
  EXPECT_AFTER(RESID_ALIAS, c.sum = (float *)(void *)((char *)x + 1));
  EXPECT_AFTER(RESID_OK, c.f = x); /* what is only read may be one */
}

/* The sum in the stream's own buffer, as a training loop keeps it, or the normalised value there: the same bits. */
static void check_in_place(void) {
  static float expected_normalized[COUNT], expected_sum[COUNT];
  Call c = good_call();
  expect(RESID_OK, run(c), "apart");
  memcpy(expected_normalized, normalized, sizeof(expected_normalized));
  memcpy(expected_sum, sum, sizeof(expected_sum));
  c = good_call();
  c.sum = x;
  expect(RESID_OK, run(c), "the sum in place of x");
  expect_true(memcmp(x, expected_sum, sizeof(expected_sum)) == 0, "the same sum in place");
  expect_true(memcmp(normalized, expected_normalized, sizeof(expected_normalized)) == 0, "the same norm beside it");
  c = good_call();
  c.normalized = f;
  c.sum = x;
  expect(RESID_OK, run(c), "the norm in place of f and the sum in place of x");
  expect_true(memcmp(f, expected_normalized, sizeof(expected_normalized)) == 0, "the same norm in place");
  expect_true(memcmp(x, expected_sum, sizeof(expected_sum)) == 0, "the same sum beside it");
}

static void check_context_and_facts(void) {
  const resid_info *info = post_info();
  resid_ctx ctx;
  memset(&ctx, 0, sizeof(ctx));
  ctx.abi_version = RESID_ABI_VERSION;
  EXPECT_AFTER(RESID_OK, c.ctx = &ctx);
  ctx.abi_version = RESID_ABI_VERSION + 1;
  EXPECT_AFTER(RESID_VERSION, c.ctx = &ctx);
  ctx.abi_version = 0;
  EXPECT_AFTER(RESID_VERSION, c.ctx = &ctx);
  expect_true(info->abi_version == RESID_ABI_VERSION, "this ABI version in post_info");
  expect_true(strlen(info->target) > 0 && strlen(info->cpu) > 0, "a target and a CPU in post_info");
  expect_true(strstr(info->signature, "tensor<?x?xf32>") != NULL, "the function type in post_info");
}

/* They take sizes as the functions do, and answer a status in place of a number of bytes. */
static void check_scratch_bytes(void) {
  const int64_t wraps = (int64_t)1 << 62;
  expect_true(post_scratch_bytes(ROWS, WIDTH, ROWS, WIDTH, WIDTH, WIDTH) == 0, "no scratch for a forward kernel");
  expect_true(post_scratch_bytes(0, WIDTH, 0, WIDTH, WIDTH, WIDTH) == 0, "no scratch for no rows");
  expect_true(post_scratch_bytes(ROWS, WIDTH, ROWS - 1, WIDTH, WIDTH, WIDTH) == RESID_BAD_SHAPE, "sizes that agree");
  expect_true(post_scratch_bytes(-1, WIDTH, -1, WIDTH, WIDTH, WIDTH) == RESID_BAD_SHAPE, "no negative size");
  expect_true(post_scratch_bytes(wraps, 4, wraps, 4, 4, 4) == RESID_BAD_SHAPE, "no product that wraps around");
  expect_true(with_scratch_scratch_bytes(-1) == RESID_BAD_SHAPE, "no negative size where scratch is needed");
  expect_true(with_scratch_scratch_bytes(INT64_MAX) == RESID_BAD_SHAPE, "no array past 2^47 bytes");
}

static void make_tensor(DLTensor *tensor, void *data, int64_t *shape, int64_t rows) {
  memset(tensor, 0, sizeof(*tensor));
  shape[0] = rows, shape[1] = 8;
  tensor->data = data;
  tensor->device.device_type = kDLCPU;
  tensor->ndim = 2;
  tensor->dtype.code = kDLFloat, tensor->dtype.bits = 32, tensor->dtype.lanes = 1;
  tensor->shape = shape;
}

static void check_scratch_of_tensors(const resid_ctx *ctx, float *stream, float *weight, float *result) {
  DLTensor tensors[3];
  int64_t shapes[3][2];
  const DLTensor *args[3] = {&tensors[0], &tensors[1], &tensors[2]};
  make_tensor(&tensors[0], stream, shapes[0], 3);
  make_tensor(&tensors[1], weight, shapes[1], 8);
  make_tensor(&tensors[2], result, shapes[2], 3);
  expect(RESID_OOM, with_scratch_dl(NULL, args, 3), "scratch of tensors without a context");
  expect(RESID_OK, with_scratch_dl(ctx, args, 3), "scratch of tensors from hooks");
}

typedef struct Counting {
  int64_t allocated, freed;
  size_t bytes;
  int refuse;
} Counting;

static void *counting_alloc(void *user, size_t bytes, size_t alignment) {
  Counting *counting = (Counting *)user;
  (void)alignment;
  if (counting->refuse)
    return NULL;
  ++counting->allocated;
  counting->bytes += bytes;
  return malloc(bytes + 64);
}

static void counting_free(void *user, void *ptr) {
  ++((Counting *)user)->freed;
  free(ptr);
}

static void check_scratch(void) {
  static float stream[3 * 8], weight[8 * 8], result[3 * 8];
  Counting counting;
  resid_ctx ctx;
  int64_t needed = with_scratch_scratch_bytes(3);
  memset(&counting, 0, sizeof(counting));
  memset(&ctx, 0, sizeof(ctx));
  ctx.abi_version = RESID_ABI_VERSION;
  expect_true(needed > 0, "scratch for the branch of with_scratch");
  expect_true(with_scratch_scratch_bytes(0) == 0, "no scratch for no rows");
  expect(RESID_OOM, with_scratch(NULL, stream, 3, weight, result), "scratch without a context");
  expect(RESID_OOM, with_scratch(&ctx, stream, 3, weight, result), "scratch without hooks");
  ctx.user = &counting;
  ctx.alloc = counting_alloc;
  ctx.free = counting_free;
  expect(RESID_OK, with_scratch(&ctx, stream, 3, weight, result), "scratch from hooks");
  expect_true(counting.allocated > 0 && counting.allocated == counting.freed, "as many frees as allocations");
  expect_true((int64_t)counting.bytes == needed, "exactly what with_scratch_scratch_bytes says");
  check_scratch_of_tensors(&ctx, stream, weight, result);
  expect_true(counting.allocated == counting.freed, "as many frees as allocations with tensors");
  counting.refuse = 1;
  expect(RESID_OOM, with_scratch(&ctx, stream, 3, weight, result), "a hook that has no memory");
  expect_true(counting.allocated == counting.freed, "nothing leaked");
}

int main(void) {
  check_pointers();
  check_shapes();
  check_values();
  check_aliases();
  check_in_place();
  check_context_and_facts();
  check_scratch_bytes();
  check_scratch();
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
