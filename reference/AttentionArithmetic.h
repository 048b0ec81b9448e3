// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attention and its backward compute a score and a weight with, once for each kind of number. Includes no order of
// keys.

#ifndef RESID_REFERENCE_ATTENTIONARITHMETIC_H
#define RESID_REFERENCE_ATTENTIONARITHMETIC_H

#include "reference/AttentionRow.h"
#include "reference/Exponential.h"
#include "reference/Interpreter.h"
#include <cmath>
#include <limits>

namespace mlir::resid::reference {

/// So many keys have one maximum, and one ordered sum. They are counted from the first key of the cache, so that the
/// bits do not depend on which of them are present.
inline constexpr int64_t attentionChunk = 256;

/// The definition's own: chains of fused multiply-adds, and the ordered sum.
template <typename T> struct FusedArithmetic {
  using Number = T;
  struct Chain {
    T sum = 0;
    void add(T a, T b) { sum = std::fma(a, b, sum); }
    T value() const { return sum; }
  };

  /// Absent keys have the weight 0, and no lane is ever -0.
  static T sum(ArrayRef<T> weights) {
    T lanes[64] = {}, second[64] = {};
    for (auto [key, weight] : llvm::enumerate(weights))
      lanes[key % 64] += weight;
    for (int lane = 0; lane != 64; ++lane)
      second[lane] += lanes[lane];
    for (int step = 32; step != 0; step /= 2)
      for (int lane = 0; lane != step; ++lane)
        second[lane] += second[lane + step];
    return second[0];
  }

  static T bend(T x) { return hyperbolicTangent(x); }
  T weigh(T exponent) const {
    T weight = exponential(exponent);
    return weight < std::numeric_limits<T>::min() ? T(0) : weight;
  }
};

/// The exact numbers nearly.
struct WideArithmetic {
  using Number = double;
  struct Chain {
    CompensatedSum sum;
    void add(double a, double b) {
      double product = a * b;
      sum.add(product);
      sum.low += std::fma(a, b, -product);
    }
    double value() const { return sum.value(); }
  };

  static double sum(ArrayRef<double> weights) {
    CompensatedSum total;
    for (double weight : weights)
      total.add(weight);
    return total.value();
  }

  static double bend(double x) { return std::tanh(x); }
  double weigh(double exponent) const {
    double weight = std::exp(exponent);
    return weight < smallest ? 0.0 : weight;
  }

  double smallest;
};

inline bool takesPart(const AttentionRow &row, int64_t key) {
  return key >= row.begin && (!row.choices || row.choices[key * row.maskStride]);
}

template <typename Arithmetic> typename Arithmetic::Number getProduct(const AttentionRow &row, int64_t key) {
  using Number = typename Arithmetic::Number;
  typename Arithmetic::Chain chain;
  for (int64_t i = 0; i != row.size; ++i)
    chain.add(static_cast<Number>(row.query[i]), static_cast<Number>(row.keys[key * row.size + i]));
  return static_cast<Number>(row.scale) * chain.value();
}

/// What the cap, which is there, is multiplied by.
template <typename Arithmetic> typename Arithmetic::Number getBent(const AttentionRow &row, int64_t key) {
  return Arithmetic::bend(getProduct<Arithmetic>(row, key) / static_cast<typename Arithmetic::Number>(row.cap));
}

template <typename Arithmetic> typename Arithmetic::Number getScore(const AttentionRow &row, int64_t key) {
  using Number = typename Arithmetic::Number;
  Number score =
      row.cap == 0.0 ? getProduct<Arithmetic>(row, key) : static_cast<Number>(row.cap) * getBent<Arithmetic>(row, key);
  return row.addends ? score + static_cast<Number>(row.addends[key * row.maskStride]) : score;
}

} // namespace mlir::resid::reference

#endif // RESID_REFERENCE_ATTENTIONARITHMETIC_H
