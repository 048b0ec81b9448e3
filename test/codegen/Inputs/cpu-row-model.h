// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of row kernels as the plainest C: ordered sums, the generator, layer norm. What compiled kernels are
// compared with, bit by bit. Shares nothing with the compiler.

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A memref argument as the lowered function takes it: both pointers, offset, sizes, strides.
#define MEMREF1(type) type *, type *, int64_t, int64_t, int64_t
#define MEMREF2(type) type *, type *, int64_t, int64_t, int64_t, int64_t, int64_t
#define MEMREF3(type) type *, type *, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t
#define VECTOR(p, n) (p), (p), 0, (n), 1
#define MATRIX(p, r, c) (p), (p), 0, (r), (c), (c), 1
#define STRIDED_MATRIX(p, r, c, stride) (p), (p), 0, (r), (c), (stride), 1
#define CUBE(p, a, b, c) (p), (p), 0, (a), (b), (c), (b) * (c), (c), 1

#define DEFINE_ORDERED_SUMS(type, suffix, fused)                                                                       \
  static type ordered_sum_##suffix(const type *v, int64_t n, int squares) {                                            \
    type total[64] = {0}, lane[64] = {0};                                                                              \
    for (int64_t j = 0; j < n; ++j) {                                                                                  \
      lane[j % 64] = squares ? fused(v[j], v[j], lane[j % 64]) : lane[j % 64] + v[j];                                  \
      if (j % 1024 == 1023 || j == n - 1)                                                                              \
        for (int l = 0; l < 64; ++l) {                                                                                 \
          total[l] += lane[l];                                                                                         \
          lane[l] = 0;                                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    for (int distance = 32; distance; distance /= 2)                                                                   \
      for (int l = 0; l < distance; ++l)                                                                               \
        total[l] += total[l + distance];                                                                               \
    return total[0];                                                                                                   \
  }
DEFINE_ORDERED_SUMS(float, f32, fmaf)
DEFINE_ORDERED_SUMS(double, f64, fma)

static uint32_t philox_half(uint64_t seed, uint32_t column, uint32_t row, uint32_t site, uint32_t step) {
  uint32_t c[4] = {column / 8, row, site, step}, k[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t a = (uint64_t)0xD2511F53 * c[0], b = (uint64_t)0xCD9E8D57 * c[2];
    uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a};
    memcpy(c, next, sizeof c);
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c[column % 8 / 2] >> (column % 2 * 16) & 0xFFFF;
}

static uint64_t random_state = 1;
static double random_number(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (double)(random_state >> 40) / 8388608.0 - 1.0;
}

static int failures;
static void expect(int condition, const char *what, long a, long b) {
  if (!condition && ++failures <= 20)
    printf("wrong: %s (%ld, %ld)\n", what, a, b);
}
static int same_f32(float a, float b) { return !memcmp(&a, &b, 4) || (a != a && b != b); }
static int same_f64(double a, double b) { return !memcmp(&a, &b, 8) || (a != a && b != b); }
static int finish(void) {
  puts(failures ? "FAILED" : "all as expected");
  return failures != 0;
}
