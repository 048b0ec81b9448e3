// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// exp by reduction to |r| ≤ ln(2)/2 and a Taylor polynomial, in float and in double; tanh from exp(2|x|) - 1.

#include "reference/Exponential.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace mlir::resid::reference {

namespace {

template <typename T> struct Format;

template <> struct Format<float> {
  using Bits = uint32_t;
  using Exponent = int32_t;
  // The sum is ln 2; a product of the first with any exponent is exact.
  static constexpr float ln2High = 0.693145751953125, ln2Low = 1.428606820309417e-06;
  /// Adding it rounds to an integer, which then stands in the last bits.
  static constexpr float rounding = 0x1.8p23;
  /// Beyond, the result is 0 or infinity, or 1 for a tanh.
  static constexpr float low = -104, high = 89, flat = 10;
  static constexpr int terms = 6, bias = 127, fractionBits = 23;
};

template <> struct Format<double> {
  using Bits = uint64_t;
  using Exponent = int64_t;
  static constexpr double ln2High = 6.93147180369123816490e-01, ln2Low = 1.90821492927058770002e-10;
  static constexpr double rounding = 0x1.8p52;
  static constexpr double low = -746, high = 710, flat = 20;
  static constexpr int terms = 12, bias = 1023, fractionBits = 52;
};

template <typename T> typename Format<T>::Bits bitsOf(T value) {
  typename Format<T>::Bits bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

template <typename T> T powerOfTwo(typename Format<T>::Exponent exponent) {
  auto bits = static_cast<typename Format<T>::Bits>(exponent + Format<T>::bias) << Format<T>::fractionBits;
  T value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// (exp(r) - 1 - r)/r² = 1/2! + r/3! + …, each coefficient rounded to T.
template <typename T> T taylorPolynomial(T r) {
  constexpr int terms = Format<T>::terms;
  double factorials[terms];
  double factorial = 1;
  for (int i = 0; i != terms; ++i)
    factorials[i] = factorial *= i + 2;
  T result = static_cast<T>(1 / factorials[terms - 1]);
  for (int i = terms - 2; i >= 0; --i)
    result = std::fma(result, r, static_cast<T>(1 / factorials[i]));
  return result;
}

/// exp(x) = 2^exponent·(1 + rest).
template <typename T> struct Reduced {
  typename Format<T>::Exponent exponent;
  T rest;
};

template <typename T> Reduced<T> reduce(T x) {
  using F = Format<T>;
  T shifted = x * static_cast<T>(1.44269504088896340736) + F::rounding;
  auto exponent = static_cast<typename F::Exponent>(bitsOf(shifted) - bitsOf(F::rounding));
  T count = -(shifted - F::rounding);
  T r = std::fma(count, F::ln2Low, std::fma(count, F::ln2High, x));
  return {exponent, std::fma(r * r, taylorPolynomial(r), r)};
}

template <typename T> T compute(T x) {
  using F = Format<T>;
  // The bits of a NaN are no exponent.
  if (std::isnan(x))
    return x;
  x = x < F::low ? F::low : x;
  x = x > F::high ? F::high : x;
  auto [exponent, rest] = reduce(x);
  // In two steps, since the power itself may lie outside of the range where the result is inside.
  typename F::Exponent half = exponent >> 1;
  return (rest + 1) * powerOfTwo<T>(half) * powerOfTwo<T>(exponent - half);
}

template <typename T> T computeTangent(T x) {
  if (std::isnan(x))
    return x;
  T magnitude = std::min(std::fabs(x), Format<T>::flat);
  auto [exponent, rest] = reduce(magnitude + magnitude);
  T power = powerOfTwo<T>(exponent), t = std::fma(rest, power, power - 1);
  return std::copysign(t / (t + 2), x);
}

} // namespace

float exponential(float x) { return compute(x); }
double exponential(double x) { return compute(x); }
float hyperbolicTangent(float x) { return computeTangent(x); }
double hyperbolicTangent(double x) { return computeTangent(x); }

} // namespace mlir::resid::reference
