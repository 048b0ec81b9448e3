// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The random numbers of dropout, written plainly from docs/dialect/dropout.md: Philox4x32-10, one element at a time.

#ifndef RESID_TEST_EMBED_RANDOM_HALF_H
#define RESID_TEST_EMBED_RANDOM_HALF_H

#include <cstdint>

/// What the counters of one dropout have in common.
struct RandomSite {
  uint64_t seed;
  uint32_t step, site;
};

/// The 16 bits of an element.
inline uint32_t randomHalf(const RandomSite &place, uint32_t row, uint64_t column) {
  uint32_t c0 = static_cast<uint32_t>(column / 8), c1 = row, c2 = place.site, c3 = place.step;
  uint32_t k0 = static_cast<uint32_t>(place.seed), k1 = static_cast<uint32_t>(place.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * c0, b = uint64_t(0xCD9E8D57) * c2;
    c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ k0, c1 = static_cast<uint32_t>(b);
    c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ k1, c3 = static_cast<uint32_t>(a);
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  const uint32_t words[] = {c0, c1, c2, c3};
  return words[column % 8 / 2] >> (column % 2 * 16) & 0xFFFF;
}

#endif
