// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers of 256 bits (AVX2 and FMA): the operations that Elements.h is made of. Registers512.h has the same ones and
// says what they do.

#ifndef RESID_BENCHMARKS_HANDWRITTEN_REGISTERS256_H
#define RESID_BENCHMARKS_HANDWRITTEN_REGISTERS256_H

#include "benchmarks/handwritten/Isa.h"

namespace resid::handwritten::RESID_ISA {

using Vector = __m256;
using Integers = __m256i;
using Mask = __m256i;
constexpr int kVectorLanes = 8;

RESID_INLINE Vector setAll(float value) { return _mm256_set1_ps(value); }
RESID_INLINE Vector setZero() { return _mm256_setzero_ps(); }
RESID_INLINE Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
RESID_INLINE Vector subtract(Vector a, Vector b) { return _mm256_sub_ps(a, b); }
RESID_INLINE Vector multiply(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
RESID_INLINE Vector multiplyAdd(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
RESID_INLINE Vector clearAbsent(Vector value, Mask there) { return _mm256_and_ps(value, _mm256_castsi256_ps(there)); }

RESID_INLINE Mask makeMask(uint32_t lanes) {
  __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(lanes)), bits), bits);
}
RESID_INLINE Vector loadFloats(const float *from) { return _mm256_loadu_ps(from); }
RESID_INLINE Vector loadFloats(const float *from, Mask there) { return _mm256_maskload_ps(from, there); }
RESID_INLINE void storeFloats(float *to, Vector value) { _mm256_storeu_ps(to, value); }
RESID_INLINE void storeFloats(float *to, Vector value, Mask there) { _mm256_maskstore_ps(to, there, value); }
RESID_INLINE void streamFloats(float *to, Vector value) { _mm256_stream_ps(to, value); }

RESID_INLINE Integers loadBits(const void *from) { return _mm256_loadu_si256(static_cast<const __m256i *>(from)); }
RESID_INLINE void storeBits(void *to, Integers bits) { _mm256_storeu_si256(static_cast<__m256i *>(to), bits); }
RESID_INLINE void streamBits(void *to, Integers bits) { _mm256_stream_si256(static_cast<__m256i *>(to), bits); }
RESID_INLINE Integers addBits(Integers a, Integers b) { return _mm256_add_epi32(a, b); }
RESID_INLINE Integers xorBits(Integers a, Integers b) { return _mm256_xor_si256(a, b); }

RESID_INLINE size_t wordBytes(int64_t count) {
  return count > 16 ? 32 : count > 0 ? static_cast<size_t>(count) * 2 : 0;
}
/// There are no masks for words, so they go over the stack. That happens once per row.
RESID_INLINE Integers loadWords(const uint16_t *from, int64_t count) {
  alignas(32) uint16_t words[16] = {};
  std::memcpy(words, from, wordBytes(count));
  return loadBits(words);
}
RESID_INLINE void storeWords(uint16_t *to, Integers words, int64_t count) {
  alignas(32) uint16_t all[16];
  storeBits(all, words);
  std::memcpy(to, all, wordBytes(count));
}

RESID_INLINE Vector widenEven(Integers words) { return _mm256_castsi256_ps(_mm256_slli_epi32(words, 16)); }
RESID_INLINE Vector widenOdd(Integers words) {
  return _mm256_castsi256_ps(_mm256_and_si256(words, _mm256_set1_epi32(static_cast<int>(0xFFFF0000))));
}

RESID_INLINE Integers roundToUpperHalves(Vector value) {
  __m256i bits = _mm256_castps_si256(value);
  __m256i isOdd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), isOdd);
  __m256 quiet = _mm256_castsi256_ps(_mm256_or_si256(bits, _mm256_set1_epi32(0x00400000)));
  __m256 isNaN = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
  return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(rounded), quiet, isNaN));
}
RESID_INLINE Integers narrow(Vector even, Vector odd) {
  return _mm256_blend_epi16(_mm256_srli_epi32(roundToUpperHalves(even), 16), roundToUpperHalves(odd), 0xAA);
}

/// Lane l += lane l + 4, 2, 1.
RESID_INLINE float sumLanes(Vector eight) {
  return sumFour(_mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1)));
}

/// All bits of the words that are at least `threshold`.
RESID_INLINE Integers isAtLeast(Integers words, uint32_t threshold) {
  __m256i bound = _mm256_set1_epi16(static_cast<short>(threshold));
  return _mm256_cmpeq_epi16(_mm256_max_epu16(words, bound), words);
}
RESID_INLINE Vector keepWhere(Integers kept, Vector value, Vector scale) {
  return _mm256_and_ps(_mm256_castsi256_ps(kept), _mm256_mul_ps(value, scale));
}
RESID_INLINE void keepInOrder(Integers words, uint32_t threshold, Vector scale, Vector &first, Vector &second) {
  __m256i kept = isAtLeast(words, threshold);
  first = keepWhere(_mm256_cvtepi16_epi32(_mm256_castsi256_si128(kept)), first, scale);
  second = keepWhere(_mm256_cvtepi16_epi32(_mm256_extracti128_si256(kept, 1)), second, scale);
}
RESID_INLINE void keepEvenOdd(Integers words, uint32_t threshold, Vector scale, Vector &even, Vector &odd) {
  __m256i kept = isAtLeast(words, threshold);
  even = keepWhere(_mm256_srai_epi32(_mm256_slli_epi32(kept, 16), 16), even, scale);
  odd = keepWhere(_mm256_srai_epi32(kept, 16), odd, scale);
}

RESID_INLINE Integers setAll64(uint64_t value) { return _mm256_set1_epi64x(static_cast<int64_t>(value)); }
RESID_INLINE Integers multiplyLow32(Integers a, Integers b) { return _mm256_mul_epu32(a, b); }
RESID_INLINE Integers upper32(Integers a) { return _mm256_srli_epi64(a, 32); }
RESID_INLINE Integers xorThree(Integers a, Integers b, Integers c) {
  return _mm256_xor_si256(_mm256_xor_si256(a, b), c);
}
RESID_INLINE Integers joinWords(Integers low, Integers high) {
  return _mm256_blend_epi32(low, _mm256_slli_epi64(high, 32), 0xAA);
}
RESID_INLINE Integers countFrom(int64_t first) {
  return _mm256_add_epi64(_mm256_set1_epi64x(first), _mm256_set_epi64x(3, 1, 2, 0));
}
RESID_INLINE Integers unpackLow(Integers a, Integers b) { return _mm256_unpacklo_epi64(a, b); }
RESID_INLINE Integers unpackHigh(Integers a, Integers b) { return _mm256_unpackhi_epi64(a, b); }

} // namespace resid::handwritten::RESID_ISA

#endif // RESID_BENCHMARKS_HANDWRITTEN_REGISTERS256_H
