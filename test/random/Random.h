// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers that are the same on every machine for one seed. Knows nothing of programs.

#ifndef RESID_TEST_RANDOM_RANDOM_H
#define RESID_TEST_RANDOM_RANDOM_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace mlir::resid::random {

/// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [0, count).
  int64_t below(int64_t count) { return static_cast<int64_t>(next() % static_cast<uint64_t>(count)); }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  /// True with this probability.
  bool chance(double probability) { return static_cast<double>(next() >> 11) * 0x1p-53 < probability; }
  template <typename T> T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<int64_t>(choices.size()))];
  }

private:
  uint64_t state;
};

} // namespace mlir::resid::random

#endif // RESID_TEST_RANDOM_RANDOM_H
