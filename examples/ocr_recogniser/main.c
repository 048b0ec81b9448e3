// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the two Transformer blocks of recogniser.mlir with the trained weights on two lines of text, and compares with
// recorded float64 results. Usage: recogniser <folder of examples/data/ocr>. Exit code 1 where a check fails.

#include "../data/npy.h"
#include "recogniser.h"
#include "resid_runtime.h"

#include <math.h>

enum { WIDTH = 120, WEIGHTS = 26 };

// In the order of the function's arguments.
static const char *const names[WEIGHTS] = {
    "block1_norm1_gamma", "block1_norm1_beta",  "block1_qkv_weight",  "block1_qkv_bias",   "block1_proj_weight",
    "block1_proj_bias",   "block1_norm2_gamma", "block1_norm2_beta",  "block1_fc1_weight", "block1_fc1_bias",
    "block1_fc2_weight",  "block1_fc2_bias",    "block2_norm1_gamma", "block2_norm1_beta", "block2_qkv_weight",
    "block2_qkv_bias",    "block2_proj_weight", "block2_proj_bias",   "block2_norm2_gamma", "block2_norm2_beta",
    "block2_fc1_weight",  "block2_fc1_bias",    "block2_fc2_weight",  "block2_fc2_bias",   "final_norm_gamma",
    "final_norm_beta"};

static resid_status run(const resid_ctx *ctx, const float *text, int64_t tokens, float *const w[WEIGHTS], float *out) {
  return recogniser(ctx, text, tokens, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12],
                    w[13], w[14], w[15], w[16], w[17], w[18], w[19], w[20], w[21], w[22], w[23], w[24], w[25], out);
}

// Whether the blocks give what is recorded for this line of text.
static int check_line(const resid_ctx *ctx, const char *folder, float *const weights[WEIGHTS]) {
  int64_t count, expected_count;
  float *text = read_npy(folder, "block1_attn_x", &count);
  float *expected = read_npy(folder, "stack_output_normed", &expected_count);
  float *result = malloc((size_t)count * sizeof(float));
  int64_t tokens = count / WIDTH;
  resid_status status = result ? run(ctx, text, tokens, weights, result) : RESID_OOM;
  double error = 0;
  for (int64_t i = 0; status == RESID_OK && i < count; ++i) {
    double difference = fabs((double)result[i] - expected[i]);
    error = difference <= error ? error : difference; // a NaN stays
  }
  int good = status == RESID_OK && count == expected_count && error <= 1e-5;
  printf("%lld tokens, %lld bytes of scratch memory, largest error %.1e: %s\n", (long long)tokens,
         (long long)recogniser_scratch_bytes(tokens), error, good ? "ok" : "FAILED");
  if (status != RESID_OK)
    fprintf(stderr, "%s\n", resid_status_string(status));
  free(text);
  free(expected);
  free(result);
  return good;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s <folder of examples/data/ocr>\n", argv[0]);
    return 2;
  }
  char folder[512];
  snprintf(folder, sizeof(folder), "%s/weights", argv[1]);
  float *weights[WEIGHTS];
  int64_t count;
  for (int i = 0; i < WEIGHTS; ++i)
    weights[i] = read_npy(folder, names[i], &count);
  resid_thread_pool *pool;
  if (resid_thread_pool_create(0, &pool) != RESID_OK)
    return 1;
  resid_ctx ctx;
  resid_ctx_init(&ctx, pool);
  int good = 1;
  for (int image = 1; image <= 2; ++image) {
    snprintf(folder, sizeof(folder), "%s/image%d", argv[1], image);
    good &= check_line(&ctx, folder, weights);
  }
  resid_thread_pool_destroy(pool);
  for (int i = 0; i < WEIGHTS; ++i)
    free(weights[i]);
  return good ? 0 : 1;
}
