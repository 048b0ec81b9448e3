/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls kernels that CMake had compiled, with threads of the runtime library: attention/block.mlir for training and for
 * inference, and both of its headers in one file. Ends with 0 where the results are those of the formula. */
#include "attention/block.h"
#include "inference/attention/block.h"
#include "resid_runtime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 100, WIDTH = 64 };

static float x[ROWS * WIDTH], f[ROWS * WIDTH], trained[ROWS * WIDTH], inferred[ROWS * WIDTH], alone[ROWS * WIDTH];

/* The largest difference to LayerNorm(x + f), in double. */
static double largest_error(const float *y) {
  double largest = 0;
  for (int row = 0; row < ROWS; ++row) {
    double mean = 0, variance = 0, sum[WIDTH];
    for (int i = 0; i < WIDTH; ++i) {
      sum[i] = x[row * WIDTH + i] + f[row * WIDTH + i];
      mean += sum[i] / WIDTH;
    }
    for (int i = 0; i < WIDTH; ++i)
      variance += (sum[i] - mean) * (sum[i] - mean) / WIDTH;
    for (int i = 0; i < WIDTH; ++i)
      largest = fmax(largest, fabs(y[row * WIDTH + i] - (sum[i] - mean) / sqrt(variance + 1e-5)));
  }
  return largest;
}

int main(void) {
  float gamma[WIDTH], beta[WIDTH];
  for (int i = 0; i < ROWS * WIDTH; ++i) {
    x[i] = (float)(i * 37 % 101) / 16 - 3;
    f[i] = (float)(i * 53 % 97) / 32 - 1;
  }
  for (int i = 0; i < WIDTH; ++i) {
    gamma[i] = 1;
    beta[i] = 0;
  }

  resid_thread_pool *pool;
  resid_ctx ctx;
  resid_status status = resid_thread_pool_create(2, &pool);
  resid_ctx_init(&ctx, pool);
  if (!status)
    status = inference_attention_block(&ctx, x, ROWS, f, ROWS, gamma, beta, 0, 0, inferred);
  if (!status)
    status = attention_block(&ctx, x, ROWS, f, ROWS, gamma, beta, 42, 0, trained);
  if (!status)
    status = attention_block(NULL, x, ROWS, f, ROWS, gamma, beta, 42, 0, alone);
  resid_thread_pool_destroy(pool);
  if (status) {
    printf("%s\n", resid_status_string(status));
    return 1;
  }

  double error = largest_error(inferred);
  int dropped = memcmp(trained, inferred, sizeof trained) != 0;
  int same = memcmp(trained, alone, sizeof trained) == 0;
  printf("C: inference within %.1e of the formula; training %s; threads %s\n", error,
         dropped ? "drops elements" : "drops nothing", same ? "give the same bits" : "give other bits");
  return error < 2e-6 && dropped && same ? 0 : 1;
}
