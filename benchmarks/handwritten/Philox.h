// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox4x32-10 for the columns of a chunk: a counter in each 64-bit lane of a register, in which one multiplication
// gives both halves of a product. Words carry rubbish above their 32 bits, which nothing reads.

#ifndef RESID_BENCHMARKS_HANDWRITTEN_PHILOX_H
#define RESID_BENCHMARKS_HANDWRITTEN_PHILOX_H

#include "benchmarks/handwritten/Elements.h"

namespace resid::handwritten::RESID_ISA {

class Philox {
public:
  Philox(uint64_t seed, uint32_t site, uint32_t step) : site(site), step(step) {
    auto low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(seed >> 32);
    for (uint32_t round = 0; round < kRounds; ++round) {
      keys[round][0] = low + round * 0x9E3779B9u;
      keys[round][1] = high + round * 0xBB67AE85u;
    }
  }

  /// The random 16 bits of the kChunk columns from `column` on. A counter gives those of eight columns, so a register
  /// of counters gives a chunk.
  __attribute__((always_inline)) RandomWords generate(int64_t row, int64_t column) const {
    Integers word0 = countFrom(column / 8), word1 = setAll64(static_cast<uint64_t>(row));
    Integers word2 = setAll64(site), word3 = setAll64(step);
    const Integers multiplier0 = setAll64(0xD2511F53), multiplier1 = setAll64(0xCD9E8D57);
#pragma clang loop unroll(full)
    for (uint32_t round = 0; round < kRounds; ++round) {
      Integers product0 = multiplyLow32(word0, multiplier0), product1 = multiplyLow32(word2, multiplier1);
      word0 = xorThree(upper32(product1), word1, setAll64(keys[round][0]));
      word2 = xorThree(upper32(product0), word3, setAll64(keys[round][1]));
      word1 = product1;
      word3 = product0;
    }
    Integers first = joinWords(word0, word1), second = joinWords(word2, word3);
    static_assert(kPairs == 2);
    return {{unpackLow(first, second), unpackHigh(first, second)}};
  }

private:
  static constexpr uint32_t kRounds = 10;

  uint64_t keys[kRounds][2];
  uint32_t site, step;
};

} // namespace resid::handwritten::RESID_ISA

#endif // RESID_BENCHMARKS_HANDWRITTEN_PHILOX_H
