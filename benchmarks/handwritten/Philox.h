// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox4x32-10 for the 64 columns of a chunk: eight counters in the eight 64-bit lanes of a register, in which one
// multiplication gives both halves of a product. Words carry rubbish above their 32 bits, which nothing reads.

#ifndef RESID_BENCHMARKS_HANDWRITTEN_PHILOX_H
#define RESID_BENCHMARKS_HANDWRITTEN_PHILOX_H

#include "benchmarks/handwritten/Elements.h"

namespace resid::handwritten {

class Philox {
public:
  Philox(uint64_t seed, uint32_t site, uint32_t step) : site(site), step(step) {
    auto low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(seed >> 32);
    for (uint32_t round = 0; round < kRounds; ++round) {
      keys[round][0] = low + round * 0x9E3779B9u;
      keys[round][1] = high + round * 0xBB67AE85u;
    }
  }

  /// The random 16 bits of columns `column` to `column` + 31 in halves[0], of the next 32 in halves[1], in order.
  __attribute__((always_inline)) void generate(int64_t row, int64_t column, __m512i halves[2]) const {
    // Unpacking takes every other lane: in this order it gives the counters one after the other.
    const __m512i order = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
    __m512i word0 = _mm512_add_epi64(_mm512_set1_epi64(column / 8), order), word1 = _mm512_set1_epi64(row);
    __m512i word2 = _mm512_set1_epi64(site), word3 = _mm512_set1_epi64(step);
    const __m512i multiplier0 = _mm512_set1_epi64(0xD2511F53), multiplier1 = _mm512_set1_epi64(0xCD9E8D57);
#pragma clang loop unroll(full)
    for (uint32_t round = 0; round < kRounds; ++round) {
      __m512i product0 = _mm512_mul_epu32(word0, multiplier0), product1 = _mm512_mul_epu32(word2, multiplier1);
      word0 = xorThree(_mm512_srli_epi64(product1, 32), word1, _mm512_set1_epi64(keys[round][0]));
      word2 = xorThree(_mm512_srli_epi64(product0, 32), word3, _mm512_set1_epi64(keys[round][1]));
      word1 = product1;
      word3 = product0;
    }
    __m512i first = joinWords(word0, word1), second = joinWords(word2, word3);
    halves[0] = _mm512_unpacklo_epi64(first, second);
    halves[1] = _mm512_unpackhi_epi64(first, second);
  }

private:
  static constexpr uint32_t kRounds = 10;

  RESID_INLINE __m512i xorThree(__m512i a, __m512i b, __m512i c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
  RESID_INLINE __m512i joinWords(__m512i low, __m512i high) {
    return _mm512_mask_shuffle_epi32(low, 0xAAAA, high, _MM_PERM_CCAA);
  }

  uint64_t keys[kRounds][2];
  uint32_t site, step;
};

} // namespace resid::handwritten

#endif // RESID_BENCHMARKS_HANDWRITTEN_PHILOX_H
