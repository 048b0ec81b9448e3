// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers of 512 bits (AVX-512 F, BW, DQ, VL; BF16 where the compiler may use it): the operations that Elements.h is
// made of. Registers256.h has the same ones. Does not own: which column stands in which lane.

#ifndef RESID_BENCHMARKS_HANDWRITTEN_REGISTERS512_H
#define RESID_BENCHMARKS_HANDWRITTEN_REGISTERS512_H

#include "benchmarks/handwritten/Isa.h"

namespace resid::handwritten::RESID_ISA {

using Vector = __m512;    // f32
using Integers = __m512i; // whole numbers of any size
using Mask = __mmask16;   // of the lanes of a Vector
constexpr int kVectorLanes = 16;

RESID_INLINE Vector setAll(float value) { return _mm512_set1_ps(value); }
RESID_INLINE Vector setZero() { return _mm512_setzero_ps(); }
RESID_INLINE Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
RESID_INLINE Vector subtract(Vector a, Vector b) { return _mm512_sub_ps(a, b); }
RESID_INLINE Vector multiply(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
/// a * b + c, rounded once.
RESID_INLINE Vector multiplyAdd(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
RESID_INLINE Vector clearAbsent(Vector value, Mask there) { return _mm512_maskz_mov_ps(there, value); }

/// The lanes whose bit is set.
RESID_INLINE Mask makeMask(uint32_t lanes) { return static_cast<Mask>(lanes); }
RESID_INLINE Vector loadFloats(const float *from) { return _mm512_loadu_ps(from); }
RESID_INLINE Vector loadFloats(const float *from, Mask there) { return _mm512_maskz_loadu_ps(there, from); }
RESID_INLINE void storeFloats(float *to, Vector value) { _mm512_storeu_ps(to, value); }
RESID_INLINE void storeFloats(float *to, Vector value, Mask there) { _mm512_mask_storeu_ps(to, there, value); }
RESID_INLINE void streamFloats(float *to, Vector value) { _mm512_stream_ps(to, value); }

RESID_INLINE Integers loadBits(const void *from) { return _mm512_loadu_si512(from); }
RESID_INLINE void storeBits(void *to, Integers bits) { _mm512_storeu_si512(to, bits); }
RESID_INLINE void streamBits(void *to, Integers bits) { _mm512_stream_si512(reinterpret_cast<__m512i *>(to), bits); }
RESID_INLINE Integers addBits(Integers a, Integers b) { return _mm512_add_epi32(a, b); }
RESID_INLINE Integers xorBits(Integers a, Integers b) { return _mm512_xor_si512(a, b); }
/// The first `count` words, and zeros.
RESID_INLINE Integers loadWords(const uint16_t *from, int64_t count) {
  return _mm512_maskz_loadu_epi16(static_cast<__mmask32>(firstLanes(count)), from);
}
RESID_INLINE void storeWords(uint16_t *to, Integers words, int64_t count) {
  _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(firstLanes(count)), words);
}

/// The words at even places, as the upper halves of f32; and those at odd ones.
RESID_INLINE Vector widenEven(Integers words) { return _mm512_castsi512_ps(_mm512_slli_epi32(words, 16)); }
RESID_INLINE Vector widenOdd(Integers words) {
  return _mm512_castsi512_ps(_mm512_and_si512(words, _mm512_set1_epi32(static_cast<int>(0xFFFF0000))));
}

RESID_INLINE Integers roundToUpperHalves(Vector value) {
  __m512i bits = _mm512_castps_si512(value);
  __m512i isOdd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), isOdd);
  __mmask16 isNaN = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
  return _mm512_mask_or_epi32(rounded, isNaN, bits, _mm512_set1_epi32(0x00400000));
}
/// Rounds to bf16, to nearest even: the inverse of widenEven and widenOdd.
RESID_INLINE Integers narrowByHand(Vector even, Vector odd) {
  return _mm512_mask_mov_epi16(_mm512_srli_epi32(roundToUpperHalves(even), 16), 0xAAAAAAAAu, roundToUpperHalves(odd));
}
#ifdef __AVX512BF16__
__attribute__((noinline)) static Integers narrowSubnormals(Vector even, Vector odd) { return narrowByHand(even, odd); }
/// The packed conversion takes subnormals for zero, so they go another way.
RESID_INLINE Integers narrow(Vector even, Vector odd) {
  constexpr int kSubnormal = 0x20;
  __mmask16 small = _mm512_fpclass_ps_mask(even, kSubnormal), smallOdd = _mm512_fpclass_ps_mask(odd, kSubnormal);
  if (__builtin_expect(!_kortestz_mask16_u8(small, smallOdd), 0))
    return narrowSubnormals(even, odd);
  // Word 2 i is word i, word 2 i + 1 is word 16 + i.
  __m512i evenPlaces = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  __m512i order =
      _mm512_or_si512(evenPlaces, _mm512_slli_epi32(_mm512_add_epi32(evenPlaces, _mm512_set1_epi32(16)), 16));
  return _mm512_permutexvar_epi16(order, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(odd, even)));
}
#else
RESID_INLINE Integers narrow(Vector even, Vector odd) { return narrowByHand(even, odd); }
#endif

/// Lane l += lane l + 8, 4, 2, 1.
RESID_INLINE float sumLanes(Vector sixteen) {
  __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(sixteen), _mm512_extractf32x8_ps(sixteen, 1));
  return sumFour(_mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1)));
}

/// value * scale where the word of the lane is at least `threshold`, else 0; words in order, for the lanes of two
/// vectors.
RESID_INLINE void keepInOrder(Integers words, uint32_t threshold, Vector scale, Vector &first, Vector &second) {
  __mmask32 kept = _mm512_cmpge_epu16_mask(words, _mm512_set1_epi16(static_cast<short>(threshold)));
  first = _mm512_maskz_mul_ps(static_cast<__mmask16>(kept), first, scale);
  second = _mm512_maskz_mul_ps(static_cast<__mmask16>(kept >> 16), second, scale);
}
/// The same where even words belong to the first vector.
RESID_INLINE void keepEvenOdd(Integers words, uint32_t threshold, Vector scale, Vector &even, Vector &odd) {
  __m512i bound = _mm512_set1_epi32(static_cast<int>(threshold << 16));
  even = _mm512_maskz_mul_ps(_mm512_cmpge_epu32_mask(_mm512_slli_epi32(words, 16), bound), even, scale);
  odd = _mm512_maskz_mul_ps(_mm512_cmpge_epu32_mask(words, bound), odd, scale);
}

/// What Philox needs: 64-bit lanes, of which products read the lower halves.
RESID_INLINE Integers setAll64(uint64_t value) { return _mm512_set1_epi64(static_cast<int64_t>(value)); }
RESID_INLINE Integers multiplyLow32(Integers a, Integers b) { return _mm512_mul_epu32(a, b); }
RESID_INLINE Integers upper32(Integers a) { return _mm512_srli_epi64(a, 32); }
RESID_INLINE Integers xorThree(Integers a, Integers b, Integers c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
/// Lower halves of `low`, beside lower halves of `high`.
RESID_INLINE Integers joinWords(Integers low, Integers high) {
  return _mm512_mask_shuffle_epi32(low, 0xAAAA, high, _MM_PERM_CCAA);
}
/// The counters from `first` on, in the order in which unpacking gives them one after the other.
RESID_INLINE Integers countFrom(int64_t first) {
  return _mm512_add_epi64(_mm512_set1_epi64(first), _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0));
}
RESID_INLINE Integers unpackLow(Integers a, Integers b) { return _mm512_unpacklo_epi64(a, b); }
RESID_INLINE Integers unpackHigh(Integers a, Integers b) { return _mm512_unpackhi_epi64(a, b); }

} // namespace resid::handwritten::RESID_ISA

#endif // RESID_BENCHMARKS_HANDWRITTEN_REGISTERS512_H
