// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How matrix units add products of floats. NVIDIA states no order and no rounding, so this is a model, of what was
// measured: M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor cores" (PeerJ, 2021), for
// Ampere; F. Khattak, M. Mikaitis, "Accurate Models of NVIDIA Tensor Cores" (2025), for Hopper. No test may depend on
// its bits: it shows whether results keep within a bound.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace resid::ptx {

/// What matrix units multiply: 16 products of each row and column, of bytes 32.
enum class MatrixFactor : uint64_t { BFloat, Half, Byte };

struct MatrixUnit {
  /// Products that are added at a time.
  unsigned products;
  /// Bits beyond the 24 of an f32 that addends keep when they are shifted to the exponent of the largest one.
  unsigned extraBits;

  /// That of a chip such as "sm_90".
  static MatrixUnit ofChip(llvm::StringRef chip);

  /// `sum` and the products of `a` and `b`, as an f32: each block of products is exact, shifted to the largest exponent
  /// among them and the sum so far, and cut off there; so is their sum.
  float add(float sum, llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) const;
};

} // namespace resid::ptx
