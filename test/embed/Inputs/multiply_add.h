// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The multiply-add of definitions that are written plainly: fused, or two operations as on processors without it.

#ifndef RESID_TEST_EMBED_MULTIPLY_ADD_H
#define RESID_TEST_EMBED_MULTIPLY_ADD_H

#include <cmath>

/// Whether the processor has no fused multiply-add.
inline bool isSplit = false;

inline float multiplyAdd(float a, float b, float c) { return isSplit ? a * b + c : std::fma(a, b, c); }
inline double multiplyAdd(double a, double b, double c) { return isSplit ? a * b + c : std::fma(a, b, c); }

#endif
