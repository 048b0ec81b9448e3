// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact conversions between float64 and the storage types f16, bf16 and f32. Knows nothing of tensors or ops.

#ifndef RESID_REFERENCE_NUMBERS_H
#define RESID_REFERENCE_NUMBERS_H

#include "mlir/IR/Types.h"
#include <cstdint>
#include <optional>

namespace mlir::resid::reference {

/// The float types that resid knows. Every value of each of them is exact in a double.
enum class FloatKind { F16, BF16, F32, F64 };

/// The kind of a scalar float type, or none for every other type.
std::optional<FloatKind> getFloatKind(Type type);

/// What section "rounding points" calls the arithmetic type: f64 for f64, f32 for the others.
inline FloatKind getArithmeticKind(FloatKind storage) {
  return storage == FloatKind::F64 ? FloatKind::F64 : FloatKind::F32;
}

/// `value` rounded once to `kind`: to nearest, ties to even, subnormals kept, overflow to infinity.
double roundTo(FloatKind kind, double value);

/// The distance between the two neighbours of `kind` that enclose `value` (the smallest subnormal near zero); infinity
/// and NaN give 0.
double unitInLastPlace(FloatKind kind, double value);

/// The first power of two past the finite range: what an overflow stands for when distances are taken.
double overflowValue(FloatKind kind);

/// The smallest number that is not subnormal.
double smallestNormal(FloatKind kind);

/// The bits of `value` in `kind`, in the low bytes; `value` is rounded first. A NaN becomes the quiet NaN.
uint64_t encodeFloat(FloatKind kind, double value);

/// The value of the low bytes of `bits`.
double decodeFloat(FloatKind kind, uint64_t bits);

} // namespace mlir::resid::reference

#endif
