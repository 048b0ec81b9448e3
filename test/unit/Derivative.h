// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The derivative of a function of one number, from values of it in float64, to some 13 digits where it is smooth.

#ifndef RESID_TEST_UNIT_DERIVATIVE_H
#define RESID_TEST_UNIT_DERIVATIVE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace mlir::resid::reference {

struct Derivative {
  double value;
  /// The largest difference to the orders of the extrapolation beside it, or what roundings of values around 1 make.
  double error;
};

/// Central differences at `step`, and at halves of it, extrapolated to step 0 (Richardson 1911; as a table, Romberg
/// 1955). Five steps remove the powers 2, 4, 6 and 8 of the step.
inline Derivative extrapolate(llvm::function_ref<double(double)> f, double step) {
  std::array<double, 5> row;
  double error = 0.0;
  for (size_t level = 0; level != row.size(); ++level, step /= 2) {
    double next = (f(step) - f(-step)) / (2 * step), power = 1.0, lower = level ? row[level - 1] : next;
    for (size_t order = 0; order != level; ++order) {
      power *= 4.0;
      double previous = std::exchange(row[order], next);
      next += (next - previous) / (power - 1.0);
    }
    error = level ? std::max(std::fabs(next - lower), std::fabs(next - row[level - 1])) : 0.0;
    row[level] = next;
  }
  return {row.back(), std::max(error, 0x1p-50 / step)};
}

/// f'(0). Where f has a kink near 0, large steps cross it, and smaller ones agree better.
inline Derivative differentiate(llvm::function_ref<double(double)> f) {
  Derivative best{0.0, std::numeric_limits<double>::infinity()};
  for (double step : {0x1p-2, 0x1p-3, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-8, 0x1p-10})
    if (Derivative found = extrapolate(f, step); found.error < best.error)
      best = found;
  return best;
}

} // namespace mlir::resid::reference

#endif // RESID_TEST_UNIT_DERIVATIVE_H
