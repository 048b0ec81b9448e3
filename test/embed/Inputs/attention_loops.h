// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid.attention, written plainly from docs/numerics.md: loops over arrays of one type, f32 or f64, to which operands
// have been widened. Not: storage types, and what is compared with it. Compile without contraction of products and
// sums.

#ifndef RESID_TEST_EMBED_ATTENTION_LOOPS_H
#define RESID_TEST_EMBED_ATTENTION_LOOPS_H

#include "multiply_add.h"
#include "random_half.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

/// E(x): exp of a number that is not positive, but +0 below the smallest normal number. All numbers are of f32.
inline float flushedExp(float x) {
  static const float inverseFactorials[] = {1.0f / 2, 1.0f / 6, 1.0f / 24, 1.0f / 120, 1.0f / 720, 1.0f / 5040};
  if (std::isnan(x))
    return x;
  if (x < -104.0f)
    return 0.0f;
  // n is x/ln 2 to the nearest integer, and r what is left.
  float n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
  float r = multiplyAdd(-n, 1.42860682e-6f, multiplyAdd(-n, 0.693145752f, x));
  float p = inverseFactorials[5];
  for (int i = 4; i >= 0; --i)
    p = multiplyAdd(p, r, inverseFactorials[i]);
  float y = std::ldexp(multiplyAdd(r * r, p, r) + 1.0f, static_cast<int>(n));
  return y < 0x1p-126f ? 0.0f : y;
}

/// The same in f64.
inline double flushedExp(double x) {
  if (std::isnan(x))
    return x;
  if (x < -746.0)
    return 0.0;
  double n = (x * 1.4426950408889634 + 0x1.8p52) - 0x1.8p52;
  double r = multiplyAdd(-n, 1.9082149292705877e-10, multiplyAdd(-n, 0.6931471803691238, x));
  double factorial = 6227020800.0, p = 1.0 / factorial; // 13!
  for (int i = 12; i >= 2; --i)
    p = multiplyAdd(p, r, 1.0 / (factorial /= i + 1));
  double y = std::ldexp(multiplyAdd(r * r, p, r) + 1.0, static_cast<int>(n));
  return y < 0x1p-1022 ? 0.0 : y;
}

/// tanh(x) = t/(t + 2) of |x|, where t = exp(2|x|) - 1 = 2^n·(exp(r) - 1) + (2^n - 1), with n and r as above.
inline float cappedTanh(float x) {
  static const float inverseFactorials[] = {1.0f / 2, 1.0f / 6, 1.0f / 24, 1.0f / 120, 1.0f / 720, 1.0f / 5040};
  if (std::isnan(x))
    return x;
  float y = 2 * (std::fabs(x) > 10.0f ? 10.0f : std::fabs(x));
  float n = (y * 1.44269504f + 12582912.0f) - 12582912.0f;
  float r = multiplyAdd(-n, 1.42860682e-6f, multiplyAdd(-n, 0.693145752f, y));
  float p = inverseFactorials[5];
  for (int i = 4; i >= 0; --i)
    p = multiplyAdd(p, r, inverseFactorials[i]);
  float power = std::ldexp(1.0f, static_cast<int>(n)), t = multiplyAdd(multiplyAdd(r * r, p, r), power, power - 1.0f);
  return std::copysign(t / (t + 2.0f), x);
}

inline double cappedTanh(double x) {
  if (std::isnan(x))
    return x;
  double y = 2 * (std::fabs(x) > 20.0 ? 20.0 : std::fabs(x));
  double n = (y * 1.4426950408889634 + 0x1.8p52) - 0x1.8p52;
  double r = multiplyAdd(-n, 1.9082149292705877e-10, multiplyAdd(-n, 0.6931471803691238, y));
  double factorial = 6227020800.0, p = 1.0 / factorial; // 13!
  for (int i = 12; i >= 2; --i)
    p = multiplyAdd(p, r, 1.0 / (factorial /= i + 1));
  double power = std::ldexp(1.0, static_cast<int>(n)), t = multiplyAdd(multiplyAdd(r * r, p, r), power, power - 1.0);
  return std::copysign(t / (t + 2.0), x);
}

/// q is [batch][heads][queries][size], k is [batch][keyHeads][keys][size], and v the same with valueSize.
template <typename T> struct AttentionArrays {
  int64_t batch, heads, keyHeads, queries, keys, size, valueSize;
  const T *q, *k, *v;
  /// One of the masks or none, and how far its elements are apart along batch, heads, queries and keys.
  const T *addends = nullptr;
  const bool *choices = nullptr;
  int64_t maskStrides[4] = {};
  /// Keys of the cache before this call, negative where there is no cache.
  int64_t past = -1;
  bool causal = false;
  T scale = 0;
  /// 0 or null where there is none; a sink has a number for each head.
  int64_t window = 0;
  T cap = 0;
  const T *sink = nullptr;
  /// Dropout: T (0: none), the row of the first query, and what draws the mask.
  uint32_t threshold = 0, firstRow = 0;
  RandomSite random = {};
  /// Results: y like q with valueSize, not rounded to storage yet; max and sum are [batch][heads][queries].
  T *y = nullptr, *max = nullptr, *sum = nullptr;
};

/// The largest of two numbers, or NaN.
template <typename T> T larger(T a, T b) { return std::isnan(a) ? a : b <= a ? a : b; }

/// Query i of head h of item b.
template <typename T> void attendRow(const AttentionArrays<T> &a, int64_t b, int64_t h, int64_t i) {
  const int64_t row = (b * a.heads + h) * a.queries + i, size = a.size, valueSize = a.valueSize;
  const int64_t shared = (b * a.keyHeads + h / (a.heads / a.keyHeads)) * a.keys;
  const T *q = a.q + row * size, *k = a.k + shared * size, *v = a.v + shared * valueSize;
  const T infinity = std::numeric_limits<T>::infinity();
  const int64_t past = a.past < 0 ? 0 : a.past, filled = a.past < 0 ? a.keys : a.past + a.queries;
  T m = -infinity, l = 0, o[576] = {};
  bool isFirst = true;
  for (int64_t c = 0; c < filled; c += 256) {
    T s[256], mc = -infinity;
    bool isPresent[256] = {}, isAny = false;
    for (int64_t j = c; j < c + 256 && j < filled; ++j) {
      int64_t place = b * a.maskStrides[0] + h * a.maskStrides[1] + i * a.maskStrides[2] + j * a.maskStrides[3];
      if ((a.window && std::abs(j - past - i) >= a.window) || (a.causal && j > past + i) ||
          (a.choices && !a.choices[place]))
        continue;
      T chain = 0;
      for (int64_t d = 0; d < size; ++d)
        chain = multiplyAdd(q[d], k[j * size + d], chain);
      T score = a.scale * chain;
      if (a.cap > 0)
        score = a.cap * cappedTanh(score / a.cap);
      if (a.addends)
        score = score + a.addends[place];
      if (score == -infinity)
        continue;
      s[j - c] = score;
      isPresent[j - c] = isAny = true;
      mc = larger(mc, score);
    }
    if (!isAny)
      continue;
    mc = mc + T(0);
    T lanes[64] = {}, oc[576] = {};
    for (int64_t j = 0; j < 256; ++j) {
      if (!isPresent[j])
        continue;
      T p = flushedExp(s[j] - mc);
      lanes[j % 64] += p;
      if (a.threshold > 0) {
        if (randomHalf(a.random, a.firstRow + static_cast<uint32_t>(row), c + j) < a.threshold)
          continue;
        p = p * static_cast<T>(65536.0 / (65536 - a.threshold));
      }
      for (int64_t d = 0; d < valueSize; ++d)
        oc[d] = multiplyAdd(p, v[(c + j) * valueSize + d], oc[d]);
    }
    for (int step = 32; step > 0; step /= 2)
      for (int lane = 0; lane < step; ++lane)
        lanes[lane] += lanes[lane + step];
    if (isFirst) {
      m = mc, l = lanes[0];
      memcpy(o, oc, sizeof(o));
    } else {
      T next = larger(m, mc), alpha = flushedExp(m - next), beta = flushedExp(mc - next);
      m = next, l = multiplyAdd(lanes[0], beta, l * alpha);
      for (int64_t d = 0; d < valueSize; ++d)
        o[d] = multiplyAdd(oc[d], beta, o[d] * alpha);
    }
    isFirst = false;
  }
  if (a.sink && a.sink[h] != -infinity) {
    T ms = a.sink[h] + T(0), next = isFirst ? ms : larger(m, ms), alpha = flushedExp(m - next);
    T beta = flushedExp(ms - next);
    m = next, l = isFirst ? T(1) : multiplyAdd(T(1), beta, l * alpha);
    for (int64_t d = 0; d < valueSize; ++d)
      o[d] = isFirst ? T(0) : multiplyAdd(T(0), beta, o[d] * alpha);
    isFirst = false;
  }
  for (int64_t d = 0; d < valueSize; ++d)
    a.y[row * valueSize + d] = isFirst ? T(0) : (o[d] + T(0)) / l;
  a.max[row] = m;
  a.sum[row] = l;
}

template <typename T> void attend(const AttentionArrays<T> &a) {
  for (int64_t b = 0; b < a.batch; ++b)
    for (int64_t h = 0; h < a.heads; ++h)
      for (int64_t i = 0; i < a.queries; ++i)
        attendRow(a, b, h, i);
}

#endif
