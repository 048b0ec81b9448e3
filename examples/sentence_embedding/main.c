/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Embeds the sentences of FOLDER/ids.txt, all in one call, with the encoder of minilm.mlir. Prints how alike they are,
 * and compares the embeddings with FOLDER/expected.npy. Exit code 1 where they differ. Usage: sentences
 * <weights.safetensors> <FOLDER of examples/data/sentences> */
#include "../data/npy.h"
#include "minilm.h"
#include "resid_runtime.h"

#include <math.h>

enum { SENTENCES = 16, TOKENS = 64 };

/* The ids of some sentences side by side, each row as long as the longest one, and which of them are there. */
typedef struct batch {
  int64_t sentences, tokens;
  int64_t ids[SENTENCES * TOKENS];
  bool mask[SENTENCES * TOKENS];
} batch;

/* A sentence per line, its ids with spaces between them; 0 where there are none, or too many. */
static int read_batch(const char *folder, batch *result) {
  static int64_t ids[SENTENCES][TOKENS];
  int64_t counts[SENTENCES];
  char name[1024], line[1024];
  snprintf(name, sizeof(name), "%s/ids.txt", folder);
  FILE *file = fopen(name, "r");
  memset(result, 0, sizeof(*result));
  while (file && result->sentences < SENTENCES && fgets(line, sizeof(line), file)) {
    int64_t count = 0;
    for (char *at = line, *end; count < TOKENS; ++count, at = end) {
      ids[result->sentences][count] = strtoll(at, &end, 10);
      if (end == at)
        break;
    }
    counts[result->sentences++] = count;
    result->tokens = count > result->tokens ? count : result->tokens;
  }
  if (file)
    fclose(file);
  for (int64_t i = 0; i < result->sentences; ++i)
    for (int64_t j = 0; j < counts[i]; ++j) {
      result->ids[i * result->tokens + j] = ids[i][j];
      result->mask[i * result->tokens + j] = true;
    }
  return result->tokens > 0;
}

/* Of two rows of length 1. */
static double get_similarity(const float *a, const float *b, int64_t width) {
  double sum = 0;
  for (int64_t i = 0; i < width; ++i)
    sum += (double)a[i] * b[i];
  return sum;
}

static int check(const char *folder, const float *y, int64_t sentences, int64_t width) {
  int64_t count;
  float *expected = read_npy(folder, "expected", &count);
  double error = count == sentences * width ? 0 : INFINITY;
  for (int64_t i = 0; i < count && i < sentences * width; ++i) {
    double difference = fabs((double)y[i] - expected[i]);
    error = difference <= error ? error : difference; /* a NaN stays */
  }
  for (int64_t i = 0; i < sentences; ++i)
    for (int64_t j = 0; j < sentences; ++j)
      printf("%.4f%c", get_similarity(y + i * width, y + j * width, width), j + 1 < sentences ? ' ' : '\n');
  printf("largest error %.1e: %s\n", error, error <= 1e-6 ? "ok" : "FAILED");
  free(expected);
  return error <= 1e-6;
}

int main(int argc, char **argv) {
  static batch texts;
  char message[512];
  resid_weights *file;
  minilm_weights weights;
  resid_thread_pool *pool;
  resid_ctx ctx;
  if (argc != 3 || !read_batch(argv[2], &texts)) {
    fprintf(stderr, "usage: %s <weights.safetensors> <folder of examples/data/sentences>\n", argv[0]);
    return 2;
  }
  if (resid_weights_open(argv[1], &file, message, sizeof(message)) != RESID_OK ||
      resid_weights_fill(file, minilm_weight_list(), &weights, sizeof(weights), message, sizeof(message)) != RESID_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  int64_t width = minilm_weight_list()->weights[0].shape[1];
  float *y = malloc((size_t)(texts.sentences * width) * sizeof(float));
  if (!y || resid_thread_pool_create(0, &pool) != RESID_OK)
    return 1;
  resid_ctx_init(&ctx, pool);
  resid_status status =
      minilm(&ctx, texts.ids, texts.sentences, texts.tokens, texts.mask, texts.sentences, texts.tokens, &weights, y);
  int good = status == RESID_OK && check(argv[2], y, texts.sentences, width);
  if (status != RESID_OK)
    fprintf(stderr, "%s\n", resid_status_string(status));
  resid_thread_pool_destroy(pool);
  resid_weights_close(file);
  free(y);
  return !good;
}
