// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much faster one variant is than another: by turns, so that both meet the same state of the machine. Plain
// statistics over times that a callback gives.

#ifndef RESID_TOOLS_RESID_TUNE_COMPARISON_H
#define RESID_TOOLS_RESID_TUNE_COMPARISON_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace mlir::resid::tune {

/// Ratios of which half lie between `low` and `high`: time before over time after, so that above 1 is faster.
struct Ratio {
  double median, low, high;

  /// Whether at least three quarters of the ratios are above 1, or below it.
  bool isFaster() const { return low > 1; }
  bool isSlower() const { return high < 1; }
};

/// `ratios` is not empty.
Ratio summarize(std::vector<double> ratios);

/// What was measured of several cases: in each round, all of them once with either variant.
class Comparison {
public:
  explicit Comparison(size_t cases) : before(cases), after(cases) {}

  /// Times case i with either variant, the order alternating from round to round.
  void addRound(llvm::function_ref<double(size_t i, bool isAfter)> time);

  /// Of one case. `median` of seconds, before and after.
  Ratio getRatio(size_t i) const;
  double getSeconds(size_t i, bool isAfter) const;
  /// Of all cases together: their geometric mean in each round.
  Ratio getRatio() const;

private:
  /// Per case, per round.
  std::vector<std::vector<double>> before, after;
};

} // namespace mlir::resid::tune

#endif // RESID_TOOLS_RESID_TUNE_COMPARISON_H
