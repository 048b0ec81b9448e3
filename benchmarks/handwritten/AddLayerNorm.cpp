// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Add and layer norm by hand. Does not own the measurement.

#include "benchmarks/handwritten/AddLayerNorm.h"

#include <cmath>
#include <immintrin.h>

using namespace resid::handwritten;

#define RESID_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
#define RESID_INLINE RESID_TARGET __attribute__((always_inline)) static inline

bool resid::handwritten::isSupported() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

namespace {

constexpr int kRegisters = 4;
constexpr int64_t kLanes = 64, kBlock = 1024;

/// 64 lanes of a sum.
struct Lanes {
  __m512 part[kRegisters];
};

RESID_INLINE Lanes zeroLanes() {
  Lanes lanes;
  for (__m512 &part : lanes.part)
    part = _mm512_setzero_ps();
  return lanes;
}

RESID_INLINE void addLanes(Lanes &total, const Lanes &lanes) {
  for (int i = 0; i < kRegisters; ++i)
    total.part[i] = _mm512_add_ps(total.part[i], lanes.part[i]);
}

/// lane l += lane l+32, l+16, l+8, l+4, l+2, l+1.
RESID_INLINE float reduceLanes(const Lanes &lanes) {
  __m512 low = _mm512_add_ps(lanes.part[0], lanes.part[2]), high = _mm512_add_ps(lanes.part[1], lanes.part[3]);
  __m512 sixteen = _mm512_add_ps(low, high);
  __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(sixteen), _mm512_extractf32x8_ps(sixteen, 1));
  __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(two) + _mm_cvtss_f32(_mm_shuffle_ps(two, two, 1));
}

/// out = x + f, and its sums by lanes.
RESID_INLINE void addChunk(const float *x, const float *f, float *out, Lanes &sum) {
  for (int i = 0; i < kRegisters; ++i) {
    __m512 value = _mm512_add_ps(_mm512_loadu_ps(x + 16 * i), _mm512_loadu_ps(f + 16 * i));
    _mm512_storeu_ps(out + 16 * i, value);
    sum.part[i] = _mm512_add_ps(sum.part[i], value);
  }
}

/// The sums of s - k and of its square.
RESID_INLINE void centreChunk(const float *s, __m512 k, Lanes &sum, Lanes &squares) {
  for (int i = 0; i < kRegisters; ++i) {
    __m512 d = _mm512_sub_ps(_mm512_loadu_ps(s + 16 * i), k);
    sum.part[i] = _mm512_add_ps(sum.part[i], d);
    squares.part[i] = _mm512_fmadd_ps(d, d, squares.part[i]);
  }
}

RESID_INLINE void normalizeRow(float *s, const float *gamma, const float *beta, int64_t width, float k, float e,
                               float rstd) {
  __m512 mean = _mm512_set1_ps(k), correction = _mm512_set1_ps(e), factor = _mm512_set1_ps(rstd);
  for (int64_t j = 0; j < width; j += 16) {
    __m512 d = _mm512_sub_ps(_mm512_sub_ps(_mm512_loadu_ps(s + j), mean), correction);
    __m512 normalized = _mm512_mul_ps(d, factor);
    _mm512_storeu_ps(s + j, _mm512_fmadd_ps(normalized, _mm512_loadu_ps(gamma + j), _mm512_loadu_ps(beta + j)));
  }
}

/// The rare case in which the correction of the mean is large: S((d-e)^2)/n.
RESID_TARGET __attribute__((noinline)) float sumCentredSquares(const float *s, int64_t width, float k, float e) {
  Lanes total = zeroLanes();
  __m512 mean = _mm512_set1_ps(k), correction = _mm512_set1_ps(e);
  for (int64_t first = 0; first < width; first += kBlock) {
    Lanes squares = zeroLanes();
    for (int64_t j = first; j < first + kBlock && j < width; j += kLanes)
      for (int i = 0; i < kRegisters; ++i) {
        __m512 d = _mm512_sub_ps(_mm512_sub_ps(_mm512_loadu_ps(s + j + 16 * i), mean), correction);
        squares.part[i] = _mm512_fmadd_ps(d, d, squares.part[i]);
      }
    addLanes(total, squares);
  }
  return reduceLanes(total);
}

RESID_INLINE float computeVariance(const float *s, int64_t width, float k, float e, float q) {
  if (std::fabs(q) < INFINITY && e * e <= q * 0.25f)
    return __builtin_fmaf(-e, e, q);
  return sumCentredSquares(s, width, k, e) / static_cast<float>(width);
}

} // namespace

RESID_TARGET void resid::handwritten::addLayerNormFixedOrder(const float *x, const float *f, const float *gamma,
                                                             const float *beta, float *out, int64_t rows, int64_t width,
                                                             float epsilon) {
  float n = static_cast<float>(width);
  for (int64_t row = 0; row < rows; ++row, x += width, f += width, out += width) {
    Lanes total = zeroLanes();
    for (int64_t first = 0; first < width; first += kBlock) {
      int64_t end = first + kBlock < width ? first + kBlock : width;
      Lanes sum = zeroLanes();
      for (int64_t j = first; j < end; j += kLanes)
        addChunk(x + j, f + j, out + j, sum);
      addLanes(total, sum);
    }
    float k = reduceLanes(total) / n;
    Lanes centredTotal = zeroLanes(), squaresTotal = zeroLanes();
    for (int64_t first = 0; first < width; first += kBlock) {
      int64_t end = first + kBlock < width ? first + kBlock : width;
      Lanes centred = zeroLanes(), squares = zeroLanes();
      for (int64_t j = first; j < end; j += kLanes)
        centreChunk(out + j, _mm512_set1_ps(k), centred, squares);
      addLanes(centredTotal, centred);
      addLanes(squaresTotal, squares);
    }
    float e = reduceLanes(centredTotal) / n, q = reduceLanes(squaresTotal) / n;
    float rstd = 1.0f / std::sqrt(computeVariance(out, width, k, e, q) + epsilon);
    normalizeRow(out, gamma, beta, width, k, e, rstd);
  }
}

RESID_TARGET void resid::handwritten::addLayerNormFreeOrder(const float *x, const float *f, const float *gamma,
                                                            const float *beta, float *out, int64_t rows, int64_t width,
                                                            float epsilon) {
  float n = static_cast<float>(width);
  for (int64_t row = 0; row < rows; ++row, x += width, f += width, out += width) {
    Lanes sum = zeroLanes(), centred = zeroLanes(), squares = zeroLanes();
    for (int64_t j = 0; j < width; j += kLanes)
      addChunk(x + j, f + j, out + j, sum);
    float k = _mm512_reduce_add_ps(
                  _mm512_add_ps(_mm512_add_ps(sum.part[0], sum.part[1]), _mm512_add_ps(sum.part[2], sum.part[3]))) /
              n;
    for (int64_t j = 0; j < width; j += kLanes)
      centreChunk(out + j, _mm512_set1_ps(k), centred, squares);
    float e = reduceLanes(centred) / n, q = reduceLanes(squares) / n;
    float rstd = 1.0f / std::sqrt(computeVariance(out, width, k, e, q) + epsilon);
    normalizeRow(out, gamma, beta, width, k, e, rstd);
  }
}
