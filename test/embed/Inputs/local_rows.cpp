// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls two objects of local-rows.mlir, one that computes values again and one that keeps them, and compares the bytes
// of their results: on ordinary rows, on rows whose squares overflow, on zeros and on a row with an infinity.

#include "again.h"
#include "kept.h"
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

static constexpr int64_t kRows = 37;
static int comparisons, failures;
static std::mt19937 generator(5);

template <typename T> static T makeNumber(double value) { return static_cast<T>(value); }
template <> uint16_t makeNumber<uint16_t>(double value) { // bf16, cut off
  float single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);
}

template <typename T> static std::vector<T> makeRows(int64_t width, double large) {
  std::normal_distribution<double> normal;
  std::vector<T> values;
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t column = 0; column < width; ++column) {
      double value = normal(generator) * (row == 3 ? large : row == 4 ? 0 : 1);
      values.push_back(makeNumber<T>(row == 5 && column == width / 2 ? INFINITY : value));
    }
  return values;
}

/// Calls both with results that begin at a cache line, and one element after it.
template <typename Result, typename Call> static void compare(int64_t width, Call call) {
  for (int64_t first : {0, 1}) {
    std::vector<Result> memory[2];
    for (int kept : {0, 1}) {
      memory[kept].assign(kRows * width + 128, Result(7));
      auto address = reinterpret_cast<uintptr_t>(memory[kept].data());
      Result *start = reinterpret_cast<Result *>((address + 63) / 64 * 64) + first;
      if (call(kept, start) != RESID_OK)
        ++failures;
      std::memmove(memory[kept].data(), start, kRows * width * sizeof(Result));
    }
    ++comparisons;
    failures += std::memcmp(memory[0].data(), memory[1].data(), kRows * width * sizeof(Result)) != 0;
  }
}

int main() {
  auto x = makeRows<float>(1100, 1e30), f = makeRows<float>(1100, 1e30), g = makeRows<float>(1100, 1);
  auto h = makeRows<uint16_t>(192, 1e30);
  auto wx = makeRows<double>(2048, 1e300), wf = makeRows<double>(2048, 1e300), wg = makeRows<double>(2048, 1);
  compare<uint16_t>(40, [&](int kept, uint16_t *r) {
    return (kept ? kept_narrow : again_narrow)(nullptr, x.data(), kRows, f.data(), kRows, g.data(), 1, 2, r);
  });
  compare<uint16_t>(192, [&](int kept, uint16_t *r) {
    return (kept ? kept_chunks : again_chunks)(nullptr, x.data(), kRows, h.data(), kRows, g.data(), r);
  });
  compare<uint16_t>(1100, [&](int kept, uint16_t *r) {
    return (kept ? kept_two : again_two)(nullptr, x.data(), kRows, f.data(), kRows, g.data(), 1, 2, r);
  });
  compare<float>(2048, [&](int kept, float *r) {
    return (kept ? kept_wide : again_wide)(nullptr, wx.data(), kRows, wf.data(), kRows, wg.data(), r);
  });
  std::printf("%d comparisons, %d failures\n", comparisons, failures);
  return failures != 0;
}
