/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Caches that grow: in place and not, all at once and one by one, full ones; and that nothing but new keys is written.
 */
#define _GNU_SOURCE
#include "key_value_cache.h"
#include "resid_runtime.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { HEADS = 2, PLACES = 512, SIZE = 8, GROUP = 2, CACHE = HEADS * PLACES * SIZE, MOST = 7, PAGE = 4096 };
static int failures;

static void expect(int condition, const char *what) {
  if (!condition) {
    ++failures;
    printf("wrong: %s\n", what);
  }
}

static void fill(float *array, int count, int seed) {
  for (int i = 0; i < count; ++i)
    array[i] = (float)((i * 37 + seed * 101) % 211) / 64.0f - 1.5f;
}

/* Pages that may not be written, with the new keys' page among them. */
static void checkWrites(void) {
  float *cache = mmap(NULL, sizeof(float) * CACHE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  float x[HEADS * SIZE];
  fill(cache, CACHE, 1);
  fill(x, HEADS * SIZE, 2);
  int page = PAGE / (int)sizeof(float), past = 130;
  mprotect(cache, sizeof(float) * CACHE, PROT_READ);
  for (int head = 0; head < HEADS; ++head)
    mprotect(cache + (head * PLACES + past) * SIZE / page * page, PAGE, PROT_READ | PROT_WRITE);
  expect(append(NULL, cache, x, 1, past, cache) == RESID_OK, "status of an append in place");
  for (int head = 0; head < HEADS; ++head)
    expect(!memcmp(cache + (head * PLACES + past) * SIZE, x + head * SIZE, sizeof(float) * SIZE), "the new key");
}

static void checkFull(void) {
  static float cache[CACHE], kept[CACHE], result[CACHE], other[CACHE];
  float x[HEADS * 3 * SIZE];
  fill(cache, CACHE, 3);
  memcpy(kept, cache, sizeof(cache));
  fill(result, CACHE, 4);
  memcpy(other, result, sizeof(result));
  fill(x, HEADS * 3 * SIZE, 5);
  int64_t bad[] = {PLACES - 2, PLACES, -1, INT64_MAX, INT64_MIN};
  for (int i = 0; i < 5; ++i) {
    expect(append(NULL, cache, x, 3, bad[i], cache) == RESID_BAD_VALUE, "a full cache, or no place, in place");
    expect(append(NULL, cache, x, 3, bad[i], result) == RESID_BAD_VALUE, "a full cache, or no place");
  }
  expect(!memcmp(cache, kept, sizeof(cache)) && !memcmp(result, other, sizeof(result)), "nothing is written then");
  expect(append(NULL, cache, x, 3, PLACES - 3, result) == RESID_OK, "the last places");
  expect(append(NULL, cache, x, 3, 0, cache + SIZE) == RESID_ALIAS, "a cache that overlaps its result");
}

/* Steps of one token, and one step of all of them, with caches in place and apart. */
static void checkSteps(const resid_ctx *ctx) {
  static float k[HEADS * MOST * SIZE], v[HEADS * MOST * SIZE], q[GROUP * HEADS * MOST * SIZE];
  static float whole[GROUP * HEADS * MOST * SIZE], y[GROUP * HEADS * SIZE];
  static float k_cache[CACHE], v_cache[CACHE], k_whole[CACHE], v_whole[CACHE];
  int64_t before = 300; /* more than a chunk of keys */
  fill(k, HEADS * MOST * SIZE, 6);
  fill(v, HEADS * MOST * SIZE, 7);
  fill(q, GROUP * HEADS * MOST * SIZE, 8);
  fill(k_cache, CACHE, 9);
  fill(v_cache, CACHE, 10);
  expect(step(ctx, q, MOST, k, MOST, v, MOST, k_cache, v_cache, before, whole, k_whole, v_whole) == RESID_OK,
         "a step of all tokens");
  for (int token = 0; token < MOST; ++token) {
    float k_one[HEADS * SIZE], v_one[HEADS * SIZE], q_one[GROUP * HEADS * SIZE];
    for (int head = 0; head < HEADS; ++head) {
      memcpy(k_one + head * SIZE, k + (head * MOST + token) * SIZE, sizeof(float) * SIZE);
      memcpy(v_one + head * SIZE, v + (head * MOST + token) * SIZE, sizeof(float) * SIZE);
    }
    for (int head = 0; head < GROUP * HEADS; ++head)
      memcpy(q_one + head * SIZE, q + (head * MOST + token) * SIZE, sizeof(float) * SIZE);
    resid_status status =
        step(ctx, q_one, 1, k_one, 1, v_one, 1, k_cache, v_cache, before + token, y, k_cache, v_cache);
    expect(status == RESID_OK, "a step");
    for (int head = 0; head < GROUP * HEADS; ++head)
      expect(!memcmp(y + head * SIZE, whole + (head * MOST + token) * SIZE, sizeof(float) * SIZE),
             "the bits of a step");
  }
  expect(!memcmp(k_cache, k_whole, sizeof(k_cache)) && !memcmp(v_cache, v_whole, sizeof(v_cache)), "the caches");
}

int main(void) {
  resid_ctx ctx;
  resid_thread_pool *pool = NULL;
  checkWrites();
  checkFull();
  resid_ctx_init(&ctx, NULL);
  checkSteps(&ctx);
  if (resid_thread_pool_create(3, &pool) == RESID_OK) {
    resid_ctx_init(&ctx, pool);
    checkSteps(&ctx);
    resid_thread_pool_destroy(pool);
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
