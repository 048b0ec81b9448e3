// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls the kernels that residc made of block.mlir: in inference on real activations of a trained Transformer, checked
// against a float64 reference, then in training, where dropout must not depend on the number of threads.
// Usage: post_norm_block <folder of examples/data/ocr>. Exit code 1 where a check fails.

#include "../data/npy.h"
#include "inference.h"
#include "resid_runtime.h"
#include "training.h"

#include <math.h>

enum { WIDTH = 120, TRAINING_ROWS = 4096 };

static int passed, failed;

static const char *check(int good) {
  *(good ? &passed : &failed) += 1;
  return good ? "ok" : "FAILED";
}

static void require_ok(resid_status status, const char *call) {
  if (status == RESID_OK)
    return;
  fprintf(stderr, "%s: %s\n", call, resid_status_string(status));
  exit(1);
}

static float *new_array(int64_t count) {
  float *array = malloc((size_t)count * sizeof(float));
  if (!array) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return array;
}

// The largest share of its allowed error that an element of `normed` has. docs/numerics.md: 5e-7·max(1,
// |γ|·max(1,|x̂|)+|β|).
static double worst_share(const float *normed, const float *reference, const float *gamma, const float *beta,
                          int64_t count) {
  double worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    double g = fabs(gamma[i % WIDTH]), b = beta[i % WIDTH];
    double scaled = fmax(g, fabs(reference[i] - b)); // |γ|·max(1, |x̂|)
    double share = fabs((double)normed[i] - reference[i]) / (5e-7 * fmax(1, scaled + fabs(b)));
    if (isnan(share))
      return INFINITY;
    worst = fmax(worst, share);
  }
  return worst;
}

static void check_sublayer(const resid_ctx *ctx, const char *folder, const char *sublayer) {
  static const char *const parts[6] = {"x", "branch", "gamma", "beta", "sum", "normed"};
  float *arrays[6];
  int64_t counts[6];
  for (int i = 0; i < 6; ++i) {
    char name[64];
    snprintf(name, sizeof(name), "%s_%s", sublayer, parts[i]);
    arrays[i] = read_npy(folder, name, &counts[i]);
  }
  float *x = arrays[0], *branch = arrays[1], *gamma = arrays[2], *beta = arrays[3];
  int64_t count = counts[0], rows = count / WIDTH;
  float *normed = new_array(count), *sum = new_array(count);
  // Seed and step stay in the signature of the inference form, and are ignored.
  resid_status status = strcmp(sublayer, "block2_mlp") == 0
                            ? inference_last_post_norm_block(ctx, x, rows, branch, rows, gamma, beta, 0, 0, normed, sum)
                            : inference_post_norm_block(ctx, x, rows, branch, rows, gamma, beta, 0, 0, normed, sum);
  require_ok(status, sublayer);
  int same = memcmp(sum, arrays[4], (size_t)count * sizeof(float)) == 0;
  double share = worst_share(normed, arrays[5], gamma, beta, count);
  printf("%-12s %4lld  %-12s %-6s  %5.1f %% of the bound  %s\n", sublayer, (long long)rows,
         same ? "same bits" : "other bits", check(same), 100 * share, check(share <= 1));
  for (int i = 0; i < 6; ++i)
    free(arrays[i]);
  free(normed);
  free(sum);
}

// The block in training on TRAINING_ROWS rows, with `threads` threads; its sum, for the caller to free.
static float *run_training(const float *x, const float *branch, const float *gamma, const float *beta, int32_t threads,
                           int64_t step) {
  resid_thread_pool *pool;
  require_ok(resid_thread_pool_create(threads, &pool), "resid_thread_pool_create");
  resid_ctx ctx;
  resid_ctx_init(&ctx, pool);
  float *normed = new_array(TRAINING_ROWS * WIDTH), *sum = new_array(TRAINING_ROWS * WIDTH);
  require_ok(post_norm_block(&ctx, x, TRAINING_ROWS, branch, TRAINING_ROWS, gamma, beta, 42, step, normed, sum),
             "post_norm_block");
  resid_thread_pool_destroy(pool);
  free(normed);
  return sum;
}

static void check_dropout(const char *folder) {
  int64_t count, parameters;
  float *rows = read_npy(folder, "block1_attn_x", &count), *branches = read_npy(folder, "block1_attn_branch", &count);
  float *gamma = read_npy(folder, "block1_attn_gamma", &parameters);
  float *beta = read_npy(folder, "block1_attn_beta", &parameters);
  // The image's rows again and again, until there are enough for several threads.
  int64_t n = TRAINING_ROWS * WIDTH;
  float *x = new_array(n), *branch = new_array(n);
  for (int64_t i = 0; i < n; ++i) {
    x[i] = rows[i % count];
    branch[i] = branches[i % count];
  }
  float *one = run_training(x, branch, gamma, beta, 1, 0), *two = run_training(x, branch, gamma, beta, 2, 0);
  float *next = run_training(x, branch, gamma, beta, 2, 1);

  // p = 0.1 is quantised to 6554/65536, and the kept elements are scaled by the inverse of what is really kept.
  const float scale = 65536.0f / (65536.0f - 6554.0f);
  int64_t dropped = 0, wrong = 0;
  for (int64_t i = 0; i < n; ++i) {
    float scaled = branch[i] * scale;
    float kept = x[i] + scaled;
    wrong += one[i] != x[i] && one[i] != kept;
    dropped += one[i] == x[i] && kept != x[i];
  }
  double p = 6554.0 / 65536, share = (double)dropped / (double)n, error = sqrt(p * (1 - p) / (double)n);
  size_t bytes = (size_t)n * sizeof(float);
  printf("\ntraining, %d rows, p = 0.1\n", TRAINING_ROWS);
  printf("  1 and 2 threads: the same bits            %s\n", check(memcmp(one, two, bytes) == 0));
  printf("  the next step has another mask            %s\n", check(memcmp(one, next, bytes) != 0));
  printf("  each sum is x or x + f/(1-p), exactly     %s\n", check(wrong == 0));
  printf("  dropped share %.5f, expected %.5f     %s\n", share, p, check(fabs(share - p) < 4 * error));
  float *all[] = {rows, branches, gamma, beta, x, branch, one, two, next};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i)
    free(all[i]);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s <folder of examples/data/ocr>\n", argv[0]);
    return 2;
  }
  static const char *const sublayers[] = {"block1_attn", "block1_mlp", "block2_attn", "block2_mlp"};
  resid_thread_pool *pool;
  require_ok(resid_thread_pool_create(0, &pool), "resid_thread_pool_create");
  resid_ctx ctx;
  resid_ctx_init(&ctx, pool);
  char folder[512] = "";
  for (int image = 1; image <= 2; ++image) {
    snprintf(folder, sizeof(folder), "%s/image%d", argv[1], image);
    printf("%simage %d      rows  sum                  normed, worst element\n", image == 1 ? "" : "\n", image);
    for (int i = 0; i < 4; ++i)
      check_sublayer(&ctx, folder, sublayers[i]);
  }
  resid_thread_pool_destroy(pool);
  check_dropout(folder);
  printf("\ndemo: %d checks passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
