// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A few columns of f32 or bf16 in vector registers: loads, stores, the rounding to storage and the order of the lanes.
// Does not own: what is computed with them, nor the instructions (Registers512.h, Registers256.h).

#ifndef RESID_BENCHMARKS_HANDWRITTEN_ELEMENTS_H
#define RESID_BENCHMARKS_HANDWRITTEN_ELEMENTS_H

#ifdef __AVX512F__
#include "benchmarks/handwritten/Registers512.h"
#else
#include "benchmarks/handwritten/Registers256.h"
#endif

namespace resid::handwritten::RESID_ISA {

constexpr int kParts = 4, kPairs = kParts / 2;
/// Columns that are worked on at a time, which are 64 in registers of 512 bits. Smaller registers are half as many, so
/// all 64 lanes of a sum would not fit into them.
constexpr int64_t kChunk = kParts * kVectorLanes;
/// Lanes of the sum S(t) of docs/numerics.md, and how many chunks they make.
constexpr int64_t kLanes = 64, kSweeps = kLanes / kChunk;

/// kChunk numbers of one row. Which column stands in which lane is the element type's choice.
struct Chunk {
  Vector part[kParts];
};

/// Which of them there are: the first `count`.
struct Presence {
  Mask part[kParts];
  int64_t count;
};

/// The random 16 bits of kChunk columns, in order.
struct RandomWords {
  Integers pair[kPairs];
};

RESID_INLINE void addTo(Chunk &total, const Chunk &chunk) {
  for (int i = 0; i < kParts; ++i)
    total.part[i] = add(total.part[i], chunk.part[i]);
}

/// f32: part i holds the columns after those of part i - 1, in order.
struct F32 {
  using Element = float;
  using Packed = Chunk;

  RESID_INLINE Presence presence(int64_t count) {
    Presence result;
    result.count = count;
    for (int i = 0; i < kParts; ++i)
      result.part[i] = makeMask(static_cast<uint32_t>(firstLanes(count) >> (kVectorLanes * i)));
    return result;
  }
  RESID_INLINE Packed loadPacked(const float *from) {
    Packed packed;
    for (int i = 0; i < kParts; ++i)
      packed.part[i] = loadFloats(from + kVectorLanes * i);
    return packed;
  }
  RESID_INLINE Packed loadPacked(const float *from, const Presence &there) {
    Packed packed;
    for (int i = 0; i < kParts; ++i)
      packed.part[i] = loadFloats(from + kVectorLanes * i, there.part[i]);
    return packed;
  }
  RESID_INLINE void storePacked(float *to, const Packed &packed) {
    for (int i = 0; i < kParts; ++i)
      storeFloats(to + kVectorLanes * i, packed.part[i]);
  }
  RESID_INLINE void storePacked(float *to, const Packed &packed, const Presence &there) {
    for (int i = 0; i < kParts; ++i)
      storeFloats(to + kVectorLanes * i, packed.part[i], there.part[i]);
  }
  RESID_INLINE void streamPacked(float *to, const Packed &packed) {
    for (int i = 0; i < kParts; ++i)
      streamFloats(to + kVectorLanes * i, packed.part[i]);
  }
  RESID_INLINE Packed pack(const Chunk &chunk) { return chunk; }
  RESID_INLINE Chunk unpack(const Packed &packed) { return packed; }

  /// Lane l += the lane half as far as there are lanes, down to 1.
  RESID_INLINE float reduce(Chunk lanes) {
    for (int parts = kParts / 2; parts >= 1; parts /= 2)
      for (int i = 0; i < parts; ++i)
        lanes.part[i] = add(lanes.part[i], lanes.part[i + parts]);
    return sumLanes(lanes.part[0]);
  }
  /// chunk * scale where the random word of the column is at least `threshold`, else 0.
  RESID_INLINE void keep(const RandomWords &words, uint32_t threshold, float scale, Chunk &chunk) {
    for (int pair = 0; pair < kPairs; ++pair)
      keepInOrder(words.pair[pair], threshold, setAll(scale), chunk.part[2 * pair], chunk.part[2 * pair + 1]);
  }
};

/// bf16: part 2 h holds the even columns of a pair of vectors, part 2 h + 1 the odd ones. So widening is one operation
/// without a shuffle, and the sums are still those of 64 lanes: only their order in registers differs.
struct BF16 {
  using Element = uint16_t;
  struct Packed {
    Integers pair[kPairs];
  };
  static constexpr int64_t kPairColumns = 2 * kVectorLanes;

  RESID_INLINE Presence presence(int64_t count) {
    Presence result;
    result.count = count;
    for (int pair = 0; pair < kPairs; ++pair) {
      auto columns = static_cast<uint32_t>(firstLanes(count) >> (kPairColumns * pair));
      result.part[2 * pair] = makeMask(_pext_u32(columns, 0x55555555u));
      result.part[2 * pair + 1] = makeMask(_pext_u32(columns, 0xAAAAAAAAu));
    }
    return result;
  }
  RESID_INLINE Packed loadPacked(const uint16_t *from) {
    Packed packed;
    for (int pair = 0; pair < kPairs; ++pair)
      packed.pair[pair] = loadBits(from + kPairColumns * pair);
    return packed;
  }
  /// How many columns of a pair there are.
  RESID_INLINE int64_t count(const Presence &there, int pair) {
    int64_t columns = there.count - kPairColumns * pair;
    return columns < 0 ? 0 : columns > kPairColumns ? kPairColumns : columns;
  }
  RESID_INLINE Packed loadPacked(const uint16_t *from, const Presence &there) {
    Packed packed;
    for (int pair = 0; pair < kPairs; ++pair)
      packed.pair[pair] = loadWords(from + kPairColumns * pair, count(there, pair));
    return packed;
  }
  RESID_INLINE void storePacked(uint16_t *to, const Packed &packed) {
    for (int pair = 0; pair < kPairs; ++pair)
      storeBits(to + kPairColumns * pair, packed.pair[pair]);
  }
  RESID_INLINE void storePacked(uint16_t *to, const Packed &packed, const Presence &there) {
    for (int pair = 0; pair < kPairs; ++pair)
      storeWords(to + kPairColumns * pair, packed.pair[pair], count(there, pair));
  }
  RESID_INLINE void streamPacked(uint16_t *to, const Packed &packed) {
    for (int pair = 0; pair < kPairs; ++pair)
      streamBits(to + kPairColumns * pair, packed.pair[pair]);
  }
  /// Rounds to nearest even.
  RESID_INLINE Packed pack(const Chunk &chunk) {
    Packed packed;
    for (int pair = 0; pair < kPairs; ++pair)
      packed.pair[pair] = narrow(chunk.part[2 * pair], chunk.part[2 * pair + 1]);
    return packed;
  }
  RESID_INLINE Chunk unpack(const Packed &packed) {
    Chunk chunk;
    for (int pair = 0; pair < kPairs; ++pair) {
      chunk.part[2 * pair] = widenEven(packed.pair[pair]);
      chunk.part[2 * pair + 1] = widenOdd(packed.pair[pair]);
    }
    return chunk;
  }

  /// Lane l += the lane half as far as there are lanes, down to 2, for even and odd lanes apart; then the two that are
  /// left.
  RESID_INLINE float reduce(Chunk lanes) {
    for (int pairs = kPairs / 2; pairs >= 1; pairs /= 2)
      for (int i = 0; i < 2 * pairs; ++i)
        lanes.part[i] = add(lanes.part[i], lanes.part[i + 2 * pairs]);
    return sumLanes(lanes.part[0]) + sumLanes(lanes.part[1]);
  }
  RESID_INLINE void keep(const RandomWords &words, uint32_t threshold, float scale, Chunk &chunk) {
    for (int pair = 0; pair < kPairs; ++pair)
      keepEvenOdd(words.pair[pair], threshold, setAll(scale), chunk.part[2 * pair], chunk.part[2 * pair + 1]);
  }
};

} // namespace resid::handwritten::RESID_ISA

#endif // RESID_BENCHMARKS_HANDWRITTEN_ELEMENTS_H
