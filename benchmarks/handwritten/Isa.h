// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which instructions this file is compiled for. All hand-written code stands in a namespace of that name, since one
// library has it several times, each compiled with other flags.

#ifndef RESID_BENCHMARKS_HANDWRITTEN_ISA_H
#define RESID_BENCHMARKS_HANDWRITTEN_ISA_H

#include <cstdint>
#include <cstring>
#include <immintrin.h>

#if defined(__AVX512BF16__)
#define RESID_ISA avx512bf16
#elif defined(__AVX512F__)
#define RESID_ISA avx512
#else
#define RESID_ISA avx2
#endif

/// The C function NAME for these instructions, such as avx2_NAME.
#define RESID_JOIN_NAMES(ISA, NAME) ISA##_##NAME
#define RESID_EXPAND_AND_JOIN(ISA, NAME) RESID_JOIN_NAMES(ISA, NAME)
#define RESID_FOR_ISA(NAME) RESID_EXPAND_AND_JOIN(RESID_ISA, NAME)

#define RESID_INLINE __attribute__((always_inline)) static inline

namespace resid::handwritten::RESID_ISA {

/// A bit for each of the first `count` lanes.
RESID_INLINE uint64_t firstLanes(int64_t count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }

/// Lane l += lane l + 2, 1.
RESID_INLINE float sumFour(__m128 four) {
  __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(two) + _mm_cvtss_f32(_mm_shuffle_ps(two, two, 1));
}

} // namespace resid::handwritten::RESID_ISA

#endif // RESID_BENCHMARKS_HANDWRITTEN_ISA_H
