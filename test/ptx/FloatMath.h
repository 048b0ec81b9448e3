// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats as the GPU computes them: operations that round once to nearest, ties to even, with subnormals, and the bits
// of NaN. Sources of these bits:
//
// * f32: "the NaN of a single-precision operation is 0x7fffffff" (CUDA C++ Programming Guide, Floating-Point Standard).
// * f16, bf16: the canonical NaN is 0x7fff (PTX ISA, fma and min for half precision).
// * f64: NVIDIA states no bits. As on hosts, an operand that is NaN comes through, made quiet; an operation without one
//   gives 0xfff8000000000000. No test should depend on this.

#pragma once

#include "test/ptx/Types.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <cstdint>

namespace resid::ptx {

/// Rounds once to a format with so many bits of exponent and mantissa.
template <unsigned ExponentBits, unsigned MantissaBits> uint16_t roundTo(double value) {
  constexpr int bias = (1 << (ExponentBits - 1)) - 1, minExponent = 1 - bias;
  uint64_t bits = llvm::bit_cast<uint64_t>(value), magnitude = bits & ~(uint64_t(1) << 63);
  uint16_t sign = bits >> 63 << 15;
  if (std::isnan(value))
    return 0x7fff;
  int exponent = int(magnitude >> 52) - 1023;
  unsigned shift = 52 - MantissaBits + (exponent < minExponent ? minExponent - exponent : 0);
  constexpr uint32_t infinity = ((1u << ExponentBits) - 1) << MantissaBits;
  if (exponent > bias)
    return sign | infinity;
  // Less than half of the smallest number. A subnormal double is among these.
  if (shift > 53)
    return sign;
  uint64_t mantissa = (magnitude & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
  uint64_t kept = mantissa >> shift, rest = mantissa & ((uint64_t(1) << shift) - 1), half = uint64_t(1) << (shift - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept;
  // The leading one of `kept` adds 1 to the exponent, and so does a carry out of it.
  uint32_t result = exponent < minExponent ? kept : (uint32_t(exponent + bias - 1) << MantissaBits) + kept;
  return sign | (result < infinity ? result : infinity);
}

inline double widen(double value) { return value; }
inline double widen(float value) { return value; }
inline double widen(BFloat value) { return llvm::bit_cast<float>(uint32_t(value.bits) << 16); }
inline double widen(Half value) {
  unsigned exponent = value.bits >> 10 & 31, mantissa = value.bits & 1023;
  double magnitude;
  if (exponent == 31)
    magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent)
    // 2^(exponent - 15) with 10 bits of mantissa after the one.
    magnitude = llvm::bit_cast<double>(uint64_t(exponent - 15 + 1023) << 52 | uint64_t(mantissa) << 42);
  else
    magnitude = mantissa * 0x1p-24;
  return value.bits & 0x8000 ? -magnitude : magnitude;
}

inline float canonical(float value) { return std::isnan(value) ? llvm::bit_cast<float>(0x7fffffffu) : value; }

/// The result of an operation whose operands may say what NaN it is.
template <typename... Operands> double canonical64(double value, Operands... operands) {
  if (!std::isnan(value))
    return value;
  uint64_t bits = 0xfff8000000000000;
  bool found = false;
  ((!found && std::isnan(operands) ? void((bits = llvm::bit_cast<uint64_t>(operands) | uint64_t(1) << 51, found = true))
                                   : void()),
   ...);
  return llvm::bit_cast<double>(bits);
}

/// Rounds a double to a type.
template <typename T> T narrow(double value);
template <> inline double narrow<double>(double value) { return canonical64(value, value); }
template <> inline float narrow<float>(double value) { return canonical(float(value)); }
template <> inline Half narrow<Half>(double value) { return {roundTo<5, 10>(value)}; }
template <> inline BFloat narrow<BFloat>(double value) { return {roundTo<8, 7>(value)}; }

inline float addFloat(float a, float b) { return canonical(a + b); }
inline float subtractFloat(float a, float b) { return canonical(a - b); }
inline float multiplyFloat(float a, float b) { return canonical(a * b); }
inline float multiplyAdd(float a, float b, float c) { return canonical(std::fma(a, b, c)); }
inline double addFloat(double a, double b) { return canonical64(a + b, a, b); }
inline double subtractFloat(double a, double b) { return canonical64(a - b, a, b); }
inline double multiplyFloat(double a, double b) { return canonical64(a * b, a, b); }
inline double multiplyAdd(double a, double b, double c) { return canonical64(std::fma(a, b, c), a, b, c); }

// In double, so that a second rounding does no harm: 53 bits are more than 2 * 11 + 2, and exponents fit.
template <typename T> T addFloat(T a, T b) { return narrow<T>(widen(a) + widen(b)); }
template <typename T> T subtractFloat(T a, T b) { return narrow<T>(widen(a) - widen(b)); }
template <typename T> T multiplyFloat(T a, T b) { return narrow<T>(widen(a) * widen(b)); }

/// A product of narrow numbers is exact in double, its sum with a third is not. Rounding that sum to odd keeps what the
/// last rounding has to know.
template <typename T> T multiplyAdd(T a, T b, T c) {
  double product = widen(a) * widen(b), addend = widen(c), sum = product + addend;
  if (std::isfinite(sum)) {
    double back = sum - product, error = (product - (sum - back)) + (addend - back);
    uint64_t bits = llvm::bit_cast<uint64_t>(sum);
    if (error != 0 && !(bits & 1))
      sum = llvm::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
  }
  return narrow<T>(sum);
}

template <typename T> Both<T> addFloat(Both<T> a, Both<T> b) {
  return {addFloat(a.low, b.low), addFloat(a.high, b.high)};
}
template <typename T> Both<T> subtractFloat(Both<T> a, Both<T> b) {
  return {subtractFloat(a.low, b.low), subtractFloat(a.high, b.high)};
}
template <typename T> Both<T> multiplyFloat(Both<T> a, Both<T> b) {
  return {multiplyFloat(a.low, b.low), multiplyFloat(a.high, b.high)};
}
template <typename T> Both<T> multiplyAdd(Both<T> a, Both<T> b, Both<T> c) {
  return {multiplyAdd(a.low, b.low, c.low), multiplyAdd(a.high, b.high, c.high)};
}

/// The lesser or greater number. -0 is less than +0. Of a number and NaN it is the number, unless NaN comes through.
template <bool IsMax, bool KeepsNaN, typename T> T extreme(T a, T b) {
  double x = widen(a), y = widen(b);
  if (std::isnan(x) || std::isnan(y)) {
    if (KeepsNaN || (std::isnan(x) && std::isnan(y)))
      return narrow<T>(std::numeric_limits<double>::quiet_NaN());
    return std::isnan(x) ? b : a;
  }
  bool isLess = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return isLess != IsMax ? a : b;
}
template <bool IsMax, bool KeepsNaN, typename T> Both<T> extreme(Both<T> a, Both<T> b) {
  return {extreme<IsMax, KeepsNaN>(a.low, b.low), extreme<IsMax, KeepsNaN>(a.high, b.high)};
}

} // namespace resid::ptx
