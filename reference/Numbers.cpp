// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact conversions between float64 and the storage types. Own code rather than a library's, since this is the oracle.

#include "reference/Numbers.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cmath>
#include <cstring>
#include <limits>

namespace mlir::resid::reference {

namespace {
/// How a binary interchange format is made; `precision` counts the hidden bit.
struct Format {
  int bits, precision, minExponent, maxExponent;
};
constexpr Format formats[] = {{16, 11, -14, 15}, {16, 8, -126, 127}, {32, 24, -126, 127}, {64, 53, -1022, 1023}};

const Format &getFormat(FloatKind kind) { return formats[static_cast<int>(kind)]; }

template <typename To, typename From> To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}

/// floor(log2(|value|)) of a finite value, -1023 for zero and subnormal doubles.
int getExponent(double value) { return static_cast<int>((bitCast<uint64_t>(value) >> 52) & 0x7ff) - 1023; }

double powerOfTwo(int exponent) { return std::ldexp(1.0, exponent); }

/// Rounding to a 16-bit format: adding and taking away 1.5·2^(q+52) leaves a multiple of 2^q, rounded to nearest even.
double roundToNarrow(const Format &format, double value) {
  if (!std::isfinite(value))
    return value;
  int quantum = std::max(getExponent(value), format.minExponent) - (format.precision - 1);
  double magnitude = std::fabs(value);
  if (getExponent(value) > format.maxExponent)
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  double shifter = bitCast<double>((static_cast<uint64_t>(quantum + 52 + 1023) << 52) | (uint64_t(1) << 51));
  // volatile keeps the two additions apart whatever the compiler is told about floating point.
  volatile double shifted = magnitude + shifter;
  double rounded = shifted - shifter;
  if (getExponent(rounded) > format.maxExponent)
    rounded = std::numeric_limits<double>::infinity();
  return std::copysign(rounded, value);
}
} // namespace

std::optional<FloatKind> getFloatKind(Type type) {
  if (type.isF16())
    return FloatKind::F16;
  if (type.isBF16())
    return FloatKind::BF16;
  if (type.isF32())
    return FloatKind::F32;
  if (type.isF64())
    return FloatKind::F64;
  return std::nullopt;
}

double roundTo(FloatKind kind, double value) {
  switch (kind) {
  case FloatKind::F64:
    return value;
  case FloatKind::F32:
    return static_cast<double>(static_cast<float>(value));
  case FloatKind::F16:
  case FloatKind::BF16:
    return roundToNarrow(getFormat(kind), value);
  }
  llvm_unreachable("all float kinds are handled");
}

double unitInLastPlace(FloatKind kind, double value) {
  if (!std::isfinite(value))
    return 0.0;
  const Format &format = getFormat(kind);
  return powerOfTwo(std::max(getExponent(value), format.minExponent) - (format.precision - 1));
}

double overflowValue(FloatKind kind) { return powerOfTwo(getFormat(kind).maxExponent + 1); }

double smallestNormal(FloatKind kind) { return powerOfTwo(getFormat(kind).minExponent); }

uint64_t encodeFloat(FloatKind kind, double value) {
  if (kind == FloatKind::F64)
    return bitCast<uint64_t>(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
  if (kind == FloatKind::F32)
    return bitCast<uint32_t>(std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value));
  const Format &format = getFormat(kind);
  int mantissaBits = format.precision - 1;
  uint64_t infinity = static_cast<uint64_t>(2 * format.maxExponent + 1) << mantissaBits;
  if (std::isnan(value))
    return infinity | (uint64_t(1) << (mantissaBits - 1));
  double rounded = roundTo(kind, value);
  uint64_t sign = std::signbit(rounded) ? 0x8000 : 0;
  double magnitude = std::fabs(rounded);
  if (std::isinf(magnitude))
    return sign | infinity;
  // A subnormal has exponent field 0 and the quantum of the smallest normal number.
  int exponent = std::max(getExponent(magnitude), format.minExponent);
  uint64_t significand = static_cast<uint64_t>(magnitude * powerOfTwo(mantissaBits - exponent));
  uint64_t hidden = uint64_t(1) << mantissaBits;
  uint64_t field = significand < hidden ? 0 : static_cast<uint64_t>(exponent - format.minExponent + 1);
  return sign | (field << mantissaBits) | (significand & (hidden - 1));
}

double decodeFloat(FloatKind kind, uint64_t bits) {
  if (kind == FloatKind::F64)
    return bitCast<double>(bits);
  if (kind == FloatKind::F32)
    return bitCast<float>(static_cast<uint32_t>(bits));
  const Format &format = getFormat(kind);
  int mantissaBits = format.precision - 1;
  uint64_t hidden = uint64_t(1) << mantissaBits;
  int field = static_cast<int>((bits & 0x7fff) >> mantissaBits);
  double sign = bits & 0x8000 ? -1.0 : 1.0;
  uint64_t mantissa = bits & (hidden - 1);
  if (field == 2 * format.maxExponent + 1)
    return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  uint64_t significand = field == 0 ? mantissa : mantissa | hidden;
  return sign * static_cast<double>(significand) *
         powerOfTwo(std::max(field, 1) - 1 + format.minExponent - mantissaBits);
}

} // namespace mlir::resid::reference
