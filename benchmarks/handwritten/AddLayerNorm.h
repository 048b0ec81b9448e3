// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fused residual add and layer norm, written by hand with AVX-512 intrinsics: what compiled kernels are measured
// by. x, f, out: `rows` times `width`; gamma, beta: `width`. All f32, dense; width is a multiple of 64. Rows are
// finite.

#ifndef RESID_BENCHMARKS_HANDWRITTEN_ADDLAYERNORM_H
#define RESID_BENCHMARKS_HANDWRITTEN_ADDLAYERNORM_H

#include <cstdint>

namespace resid::handwritten {

/// Whether this processor runs the functions below.
bool isSupported();

/// The same operations in the same order as compiled code, and so the same bits.
void addLayerNormFixedOrder(const float *x, const float *f, const float *gamma, const float *beta, float *out,
                            int64_t rows, int64_t width, float epsilon);

/// The same statistics with the sums in the order that is the fastest here: no blocks, independent accumulators.
void addLayerNormFreeOrder(const float *x, const float *f, const float *gamma, const float *beta, float *out,
                           int64_t rows, int64_t width, float epsilon);

} // namespace resid::handwritten

#endif // RESID_BENCHMARKS_HANDWRITTEN_ADDLAYERNORM_H
