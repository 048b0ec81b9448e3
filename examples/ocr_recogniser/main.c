// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the two Transformer blocks of recogniser.mlir with the trained weights on two lines of text, and compares with
// recorded float64 results. Usage: recogniser <folder of examples/data/ocr>. Exit code 1 where a check fails.

#include "../data/npy.h"
#include "recogniser.h"
#include "resid_runtime.h"

#include <math.h>

enum { WIDTH = 120 };

// Whether the blocks give what is recorded for this line of text.
static int check_line(const resid_ctx *ctx, const char *folder, const recogniser_weights *weights) {
  int64_t count, expected_count;
  float *text = read_npy(folder, "block1_attn_x", &count);
  float *expected = read_npy(folder, "stack_output_normed", &expected_count);
  float *result = malloc((size_t)count * sizeof(float));
  int64_t tokens = count / WIDTH;
  resid_status status = result ? recogniser(ctx, text, tokens, weights, result) : RESID_OOM;
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
  char folder[512], message[512];
  resid_weights *file;
  recogniser_weights weights;
  snprintf(folder, sizeof(folder), "%s/weights/recogniser.safetensors", argv[1]);
  if (resid_weights_open(folder, &file, message, sizeof(message)) != RESID_OK ||
      resid_weights_fill(file, recogniser_weight_list(), &weights, sizeof(weights), message, sizeof(message)) !=
          RESID_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  resid_thread_pool *pool;
  if (resid_thread_pool_create(0, &pool) != RESID_OK)
    return 1;
  resid_ctx ctx;
  resid_ctx_init(&ctx, pool);
  int good = 1;
  for (int image = 1; image <= 2; ++image) {
    snprintf(folder, sizeof(folder), "%s/image%d", argv[1], image);
    good &= check_line(&ctx, folder, &weights);
  }
  resid_thread_pool_destroy(pool);
  resid_weights_close(file);
  return good ? 0 : 1;
}
