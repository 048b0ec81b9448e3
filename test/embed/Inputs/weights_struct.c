// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function with its weights in a struct beside the same one with a pointer for each, the answers to what is wrong with
// the struct, and the list of its members. Compiled as C11 and as C++11.

#include "plain.h"
#include "weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3, WIDTH = 8 };

static float x[ROWS * WIDTH], gamma_[WIDTH], bias[WIDTH], folded[WIDTH], expected[ROWS * WIDTH], out[ROWS * WIDTH];
static uint16_t proj[WIDTH * WIDTH];
static char line[2048];
static int failures;

static void *give(void *user, size_t bytes, size_t alignment) {
  (void)user;
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
static void take(void *user, void *ptr) {
  (void)user;
  free(ptr);
}
static void keep_line(void *user, int32_t level, const char *text) {
  (void)user, (void)level;
  strncpy(line, text, sizeof(line) - 1);
}

static void show(resid_status status) {
  printf("%d %s\n", (int)status, line);
  line[0] = '\0';
}

static void expect_bits(const char *what, resid_status status) {
  int good = status == RESID_OK && memcmp(out, expected, sizeof(out)) == 0;
  printf("%s: %s\n", what, good ? "same bits" : "OTHER BITS");
  failures += !good;
  memset(out, 0, sizeof(out));
}

static void check_refusals(const resid_ctx *ctx, const model_weights *all) {
  resid_ctx other = *ctx;
  model_weights some = *all;
  other.abi_version = 2;
  show(model(&other, x, ROWS, NULL, 0.5f, out));
  show(model(ctx, x, ROWS, NULL, 0.5f, out));
  show(model(NULL, x, ROWS, NULL, 0.5f, out));
  some.proj = NULL;
  show(model(ctx, x, ROWS, &some, 0.5f, out));
  some = *all;
  show(model(ctx, x, ROWS, &some, 0.5f, folded));
  some.gamma = out;
  show(model(ctx, x, ROWS, &some, 0.5f, out));
  show(model(ctx, NULL, ROWS, all, 0.5f, out));
}

static void describe(DLTensor *tensor, void *data, int32_t rank, int64_t *shape, uint8_t code, uint8_t bits) {
  memset(tensor, 0, sizeof(*tensor));
  tensor->data = data;
  tensor->device.device_type = kDLCPU;
  tensor->ndim = rank;
  tensor->dtype.code = code, tensor->dtype.bits = bits, tensor->dtype.lanes = 1;
  tensor->shape = shape;
}

/// Arguments keep their order there.
static void check_tensors(const resid_ctx *ctx) {
  static int64_t rows[] = {ROWS, WIDTH}, square[] = {WIDTH, WIDTH}, vector[] = {WIDTH}, none[] = {0, 3};
  float scale = 0.5f;
  DLTensor tensors[8];
  const DLTensor *args[8];
  int i;
  for (i = 0; i < 8; ++i)
    args[i] = &tensors[i];
  describe(&tensors[0], x, 2, rows, kDLFloat, 32);
  describe(&tensors[1], gamma_, 1, vector, kDLFloat, 32);
  describe(&tensors[2], &scale, 0, NULL, kDLFloat, 32);
  describe(&tensors[3], proj, 2, square, kDLBfloat, 16);
  describe(&tensors[4], bias, 1, vector, kDLFloat, 32);
  describe(&tensors[5], NULL, 2, none, kDLFloat, 32);
  describe(&tensors[6], folded, 1, vector, kDLFloat, 32);
  describe(&tensors[7], out, 2, rows, kDLFloat, 32);
  expect_bits("model_dl", model_dl(ctx, args, 8));
  tensors[3].dtype.bits = 32;
  show(model_dl(ctx, args, 8));
  tensors[3].dtype.bits = 16, tensors[3].data = NULL;
  show(model_dl(ctx, args, 8));
}

static void print_list(const resid_weight_list *list) {
  int64_t i;
  int32_t j;
  for (i = 0; i < list->count; ++i) {
    const resid_weight *weight = &list->weights[i];
    printf("%s: %s", weight->name ? weight->name : "(prepared)", weight->dtype);
    for (j = 0; j < weight->rank; ++j)
      printf(" %d", (int)weight->shape[j]);
    printf("\n");
  }
}

int main(void) {
  resid_ctx ctx = RESID_CTX_INIT;
  model_weights weights;
  model_prepare_weights raw;
  int i;
  ctx.alloc = give, ctx.free = take, ctx.log = keep_line;
  for (i = 0; i < ROWS * WIDTH; ++i)
    x[i] = (float)(i % 7) - 3.0f;
  for (i = 0; i < WIDTH; ++i)
    gamma_[i] = 1.0f + 0.125f * (float)i, bias[i] = (float)i - 2.0f;
  for (i = 0; i < WIDTH * WIDTH; ++i)
    proj[i] = (uint16_t)(0x3f80 + i);
  raw.a = gamma_, raw.b = bias;
  show(model_prepare(&ctx, &raw, folded));
  show(plain_model(&ctx, x, ROWS, gamma_, 0.5f, proj, bias, NULL, folded, expected));

  weights.gamma = gamma_, weights.proj = proj, weights.class_ = bias, weights.empty = NULL, weights.folded = folded;
  expect_bits("model", model(&ctx, x, ROWS, &weights, 0.5f, out));
  printf("scratch: %d\n", model_scratch_bytes(ROWS) == plain_model_scratch_bytes(ROWS));
  printf("signature: %d\n", strcmp(model_info()->signature, plain_model_info()->signature) == 0);
  check_tensors(&ctx);
  check_refusals(&ctx, &weights);
  print_list(model_weight_list());
  print_list(model_prepare_weight_list());
  printf("members: %d %d\n", (int)(sizeof(weights) / sizeof(void *)), (int)(sizeof(raw) / sizeof(void *)));
  return failures;
}
