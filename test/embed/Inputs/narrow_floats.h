// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between f16, bf16 and wider floats, written plainly from the formats: to nearest, ties to even, once.

#ifndef RESID_TEST_EMBED_NARROW_FLOATS_H
#define RESID_TEST_EMBED_NARROW_FLOATS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

inline float fromBF16(uint16_t bits) {
  uint32_t word = static_cast<uint32_t>(bits) << 16;
  float value;
  memcpy(&value, &word, sizeof(value));
  return value;
}

inline float fromF16(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  if (exponent == 31)
    value = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  return static_cast<float>(bits & 0x8000 ? -value : value);
}

/// The float of `precision` bits, and no exponent below `least`, that is next to a finite value, ties to even.
inline double roundOnce(double value, int precision, int least) {
  int exponent = value == 0 ? least : std::max(std::ilogb(value), least);
  return std::ldexp(std::nearbyint(std::ldexp(value, precision - 1 - exponent)), exponent - precision + 1);
}

inline uint16_t toBF16(double value) {
  auto rounded = static_cast<float>(std::isfinite(value) ? roundOnce(value, 8, -126) : value);
  uint32_t word;
  memcpy(&word, &rounded, sizeof(word));
  return static_cast<uint16_t>(word >> 16);
}

inline uint16_t toF16(double value) {
  auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value))
    return sign | 0x7E00;
  double rounded = std::isinf(value) ? HUGE_VAL : std::fabs(roundOnce(value, 11, -14));
  if (rounded >= 65536)
    return sign | 0x7C00;
  int exponent = rounded == 0 ? -14 : std::max(std::ilogb(rounded), -14);
  auto fraction = static_cast<int>(std::ldexp(rounded, 10 - exponent));
  return sign | static_cast<uint16_t>(fraction < 1024 ? fraction : (exponent + 15) << 10 | (fraction - 1024));
}

#endif
