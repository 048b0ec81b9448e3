// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 64 columns of f32 or bf16 in AVX-512 registers: loads, stores, the rounding to storage and the order of the lanes.
// Does not own: what is computed with them.

#ifndef RESID_BENCHMARKS_HANDWRITTEN_ELEMENTS_H
#define RESID_BENCHMARKS_HANDWRITTEN_ELEMENTS_H

#include <cstdint>
#include <immintrin.h>

#define RESID_INLINE __attribute__((always_inline)) static inline

namespace resid::handwritten {

constexpr int kParts = 4;
constexpr int64_t kChunk = 64;

/// 64 numbers of one row. Which column stands in which lane is the element type's choice.
struct Chunk {
  __m512 part[kParts];
};

/// Which of them there are.
struct Presence {
  __mmask16 part[kParts];
  uint64_t columns;
};

RESID_INLINE uint64_t firstColumns(int64_t count) { return count >= kChunk ? ~0ull : (1ull << count) - 1; }

/// f32: part i holds columns 16 i to 16 i + 15.
struct F32 {
  using Element = float;
  using Packed = Chunk;

  RESID_INLINE Presence presence(int64_t count) {
    Presence result{{}, firstColumns(count)};
    for (int i = 0; i < kParts; ++i)
      result.part[i] = static_cast<__mmask16>(result.columns >> (16 * i));
    return result;
  }
  RESID_INLINE Packed loadPacked(const float *from) {
    Packed packed;
    for (int i = 0; i < kParts; ++i)
      packed.part[i] = _mm512_loadu_ps(from + 16 * i);
    return packed;
  }
  RESID_INLINE Packed loadPacked(const float *from, const Presence &there) {
    Packed packed;
    for (int i = 0; i < kParts; ++i)
      packed.part[i] = _mm512_maskz_loadu_ps(there.part[i], from + 16 * i);
    return packed;
  }
  RESID_INLINE void storePacked(float *to, const Packed &packed) {
    for (int i = 0; i < kParts; ++i)
      _mm512_storeu_ps(to + 16 * i, packed.part[i]);
  }
  RESID_INLINE void storePacked(float *to, const Packed &packed, const Presence &there) {
    for (int i = 0; i < kParts; ++i)
      _mm512_mask_storeu_ps(to + 16 * i, there.part[i], packed.part[i]);
  }
  RESID_INLINE void streamPacked(float *to, const Packed &packed) {
    for (int i = 0; i < kParts; ++i)
      _mm512_stream_ps(to + 16 * i, packed.part[i]);
  }
  RESID_INLINE Packed pack(const Chunk &chunk) { return chunk; }
  RESID_INLINE Chunk unpack(const Packed &packed) { return packed; }

  /// Lane l += lane l + 32, l + 16: what is left are 16 lanes, then 8, 4, 2, 1.
  RESID_INLINE float reduce(const Chunk &lanes) {
    __m512 low = _mm512_add_ps(lanes.part[0], lanes.part[2]), high = _mm512_add_ps(lanes.part[1], lanes.part[3]);
    __m512 sixteen = _mm512_add_ps(low, high);
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(sixteen), _mm512_extractf32x8_ps(sixteen, 1));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(two) + _mm_cvtss_f32(_mm_shuffle_ps(two, two, 1));
  }
  /// From halves[0], the random 16 bits of columns 0 to 31, and halves[1]: the columns whose bits are at least T.
  RESID_INLINE void keep(const __m512i halves[2], uint32_t threshold, __mmask16 kept[kParts]) {
    __m512i bound = _mm512_set1_epi16(static_cast<short>(threshold));
    for (int i = 0; i < 2; ++i) {
      __mmask32 both = _mm512_cmpge_epu16_mask(halves[i], bound);
      kept[2 * i] = static_cast<__mmask16>(both);
      kept[2 * i + 1] = static_cast<__mmask16>(both >> 16);
    }
  }
};

/// bf16: part 2 h holds the even columns of columns 32 h to 32 h + 31, part 2 h + 1 the odd ones. So widening is one
/// operation without a shuffle, and the sums are still those of 64 lanes: only their order in registers differs.
struct BF16 {
  using Element = uint16_t;
  struct Packed {
    __m512i half[2];
  };

  RESID_INLINE Presence presence(int64_t count) {
    Presence result{{}, firstColumns(count)};
    for (int h = 0; h < 2; ++h) {
      auto columns = static_cast<uint32_t>(result.columns >> (32 * h));
      result.part[2 * h] = static_cast<__mmask16>(_pext_u32(columns, 0x55555555u));
      result.part[2 * h + 1] = static_cast<__mmask16>(_pext_u32(columns, 0xAAAAAAAAu));
    }
    return result;
  }
  RESID_INLINE Packed loadPacked(const uint16_t *from) {
    return {{_mm512_loadu_si512(from), _mm512_loadu_si512(from + 32)}};
  }
  RESID_INLINE Packed loadPacked(const uint16_t *from, const Presence &there) {
    return {{_mm512_maskz_loadu_epi16(static_cast<__mmask32>(there.columns), from),
             _mm512_maskz_loadu_epi16(static_cast<__mmask32>(there.columns >> 32), from + 32)}};
  }
  RESID_INLINE void storePacked(uint16_t *to, const Packed &packed) {
    _mm512_storeu_si512(to, packed.half[0]);
    _mm512_storeu_si512(to + 32, packed.half[1]);
  }
  RESID_INLINE void storePacked(uint16_t *to, const Packed &packed, const Presence &there) {
    _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(there.columns), packed.half[0]);
    _mm512_mask_storeu_epi16(to + 32, static_cast<__mmask32>(there.columns >> 32), packed.half[1]);
  }
  RESID_INLINE void streamPacked(uint16_t *to, const Packed &packed) {
    for (int h = 0; h < 2; ++h)
      _mm512_stream_si512(reinterpret_cast<__m512i *>(to + 32 * h), packed.half[h]);
  }

  /// Rounds to nearest even. The packed conversion takes subnormals for zero, so they go another way.
  RESID_INLINE Packed pack(const Chunk &chunk) {
    Packed packed;
    for (int h = 0; h < 2; ++h) {
      __m512 even = chunk.part[2 * h], odd = chunk.part[2 * h + 1];
      constexpr int kSubnormal = 0x20;
      __mmask16 small = _mm512_fpclass_ps_mask(even, kSubnormal), smallOdd = _mm512_fpclass_ps_mask(odd, kSubnormal);
      if (__builtin_expect(!_kortestz_mask16_u8(small, smallOdd), 0)) {
        packed.half[h] = packSubnormals(even, odd);
        continue;
      }
      auto apart = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(odd, even));
      packed.half[h] = _mm512_permutexvar_epi16(interleaved(), apart);
    }
    return packed;
  }
  RESID_INLINE Chunk unpack(const Packed &packed) {
    Chunk chunk;
    for (int h = 0; h < 2; ++h) {
      chunk.part[2 * h] = _mm512_castsi512_ps(_mm512_slli_epi32(packed.half[h], 16));
      chunk.part[2 * h + 1] =
          _mm512_castsi512_ps(_mm512_and_si512(packed.half[h], _mm512_set1_epi32(static_cast<int>(0xFFFF0000))));
    }
    return chunk;
  }

  /// Lane l += lane l + 32, l + 16, 8, 4, 2, for even and odd lanes apart; then the two that are left.
  RESID_INLINE float reduce(const Chunk &lanes) {
    return reduceEvery(_mm512_add_ps(lanes.part[0], lanes.part[2])) +
           reduceEvery(_mm512_add_ps(lanes.part[1], lanes.part[3]));
  }
  RESID_INLINE void keep(const __m512i halves[2], uint32_t threshold, __mmask16 kept[kParts]) {
    __m512i bound = _mm512_set1_epi32(static_cast<int>(threshold << 16));
    for (int h = 0; h < 2; ++h) {
      kept[2 * h] = _mm512_cmpge_epu32_mask(_mm512_slli_epi32(halves[h], 16), bound);
      kept[2 * h + 1] = _mm512_cmpge_epu32_mask(halves[h], bound);
    }
  }

private:
  RESID_INLINE float reduceEvery(__m512 sixteen) {
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(sixteen), _mm512_extractf32x8_ps(sixteen, 1));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(two) + _mm_cvtss_f32(_mm_shuffle_ps(two, two, 1));
  }
  /// Word 2 i is word i, word 2 i + 1 is word 16 + i.
  RESID_INLINE __m512i interleaved() {
    __m512i even = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_or_si512(even, _mm512_slli_epi32(_mm512_add_epi32(even, _mm512_set1_epi32(16)), 16));
  }
  RESID_INLINE __m512i roundWords(__m512 value) {
    __m512i bits = _mm512_castps_si512(value);
    __m512i isOdd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), isOdd);
    __mmask16 isNaN = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    return _mm512_mask_or_epi32(rounded, isNaN, bits, _mm512_set1_epi32(0x00400000));
  }
  __attribute__((noinline)) static __m512i packSubnormals(__m512 even, __m512 odd) {
    return _mm512_mask_mov_epi16(_mm512_srli_epi32(roundWords(even), 16), 0xAAAAAAAAu, roundWords(odd));
  }
};

} // namespace resid::handwritten

#endif // RESID_BENCHMARKS_HANDWRITTEN_ELEMENTS_H
