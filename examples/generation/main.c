/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Generates text with the decoder of decoder.mlir, token by token, from caches. Its weights are random numbers, so the
 * text means nothing. Then checks that each step gave the bits of a call for all tokens at once. Exit code 1 where one
 * did not. Usage: generation [threads] */
#define _POSIX_C_SOURCE 199309L
#include "decoder.h"
#include "resid_runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 64, SIZE = 16, HEADS = 2, PLACES = 128, VOCABULARY = 96, LAYERS = 2, CACHE = HEADS * PLACES * SIZE };

static float embedding[VOCABULARY][WIDTH], cosines[PLACES][SIZE / 2], sines[PLACES][SIZE / 2];
static float caches[2 * LAYERS][CACHE], other_caches[2 * LAYERS][CACHE];

/* Numbers from -1 to 1, the same on every machine. */
static float draw(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) / 8388608.0f - 1.0f;
}

/* Random weights: gains of 1, and matrices that keep the size of what they multiply. */
static int make_weights(step_weights *weights) {
  const resid_weight_list *list = step_weight_list();
  const float **members = (const float **)weights;
  uint32_t state = 1;
  for (int64_t i = 0; i < list->count; ++i) {
    const resid_weight *weight = &list->weights[i];
    int64_t count = 1;
    for (int d = 0; d < weight->rank; ++d)
      count *= weight->shape[d];
    float *values = malloc((size_t)count * sizeof(float));
    if (!values)
      return 0;
    float scale = weight->rank == 2 ? sqrtf(3.0f / (float)weight->shape[1]) : 0.0f;
    for (int64_t j = 0; j < count; ++j)
      values[j] = weight->rank == 2 ? scale * draw(&state) : 1.0f;
    members[i] = values;
  }
  for (int token = 0; token < VOCABULARY; ++token)
    for (int i = 0; i < WIDTH; ++i)
      embedding[token][i] = 1.7f * draw(&state);
  for (int position = 0; position < PLACES; ++position)
    for (int i = 0; i < SIZE / 2; ++i) {
      double angle = position * pow(10000.0, -2.0 * i / SIZE);
      cosines[position][i] = (float)cos(angle);
      sines[position][i] = (float)sin(angle);
    }
  return 1;
}

/* The stream of some tokens; 0 where a token is none of the vocabulary. */
static int embed(const char *text, int64_t count, float *x) {
  for (int64_t i = 0; i < count; ++i) {
    int token = text[i] - ' ';
    if (token < 0 || token >= VOCABULARY)
      return 0;
    memcpy(x + i * WIDTH, embedding[token], sizeof(embedding[token]));
  }
  return 1;
}

/* The scores of what follows each of the tokens, which come after `past` others. The caches take their keys. */
static resid_status run(const resid_ctx *ctx, const step_weights *weights, const char *text, int64_t count, int64_t past,
                        float cache[][CACHE], float *logits) {
  static float x[PLACES * WIDTH];
  if (count > PLACES || !embed(text, count, x))
    return RESID_BAD_VALUE;
  return step(ctx, x, count, past, cosines[0], sines[0], cache[0], cache[1], cache[2], cache[3], weights, logits, cache[0],
              cache[1], cache[2], cache[3]);
}

static char find_largest(const float *logits) {
  int best = 0;
  for (int token = 1; token < VOCABULARY; ++token)
    best = logits[token] > logits[best] ? token : best;
  return (char)(' ' + best);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
  static float logits[PLACES][VOCABULARY], all[PLACES][VOCABULARY];
  char text[PLACES + 1] = "The residual stream ";
  int64_t prompt = (int64_t)strlen(text), count = prompt;
  step_weights weights;
  resid_thread_pool *pool;
  resid_ctx ctx;
  if (!make_weights(&weights) || resid_thread_pool_create(argc > 1 ? atoi(argv[1]) : 1, &pool) != RESID_OK)
    return 1;
  resid_ctx_init(&ctx, pool);
  /* The prompt at once, then each token as it comes. */
  resid_status status = run(&ctx, &weights, text, prompt, 0, caches, logits[0]);
  double start = now();
  for (; status == RESID_OK && count < PLACES; ++count) {
    text[count] = find_largest(logits[count - 1]);
    status = run(&ctx, &weights, text + count, 1, count, caches, logits[count]);
  }
  double seconds = now() - start;
  if (status != RESID_OK) {
    fprintf(stderr, "%s\n", resid_status_string(status));
    return 1;
  }
  printf("%s\n%lld tokens, %.0f a second\n", text, (long long)count, (double)(count - prompt) / seconds);
  /* One more would not fit. */
  status = run(&ctx, &weights, "x", 1, count, caches, all[0]);
  printf("one more: %s\n", resid_status_string(status));
  int good = status == RESID_BAD_VALUE;
  good &= run(&ctx, &weights, text, count, 0, other_caches, all[0]) == RESID_OK;
  good &= !memcmp(all, logits, sizeof(all)) && !memcmp(caches, other_caches, sizeof(caches));
  printf("%s\n", good ? "the bits of one call for all tokens: ok" : "other bits than one call for all tokens: FAILED");
  resid_thread_pool_destroy(pool);
  return !good;
}
