// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-tune/Comparison.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir::resid::tune;

/// Between the values beside it, as most programs for statistics have it.
static double getQuantile(llvm::ArrayRef<double> sorted, double share) {
  double place = share * static_cast<double>(sorted.size() - 1);
  size_t below = static_cast<size_t>(place);
  double above = sorted[std::min(below + 1, sorted.size() - 1)];
  return sorted[below] + (place - static_cast<double>(below)) * (above - sorted[below]);
}

Ratio mlir::resid::tune::summarize(std::vector<double> ratios) {
  llvm::sort(ratios);
  return {getQuantile(ratios, 0.5), getQuantile(ratios, 0.25), getQuantile(ratios, 0.75)};
}

void Comparison::addRound(llvm::function_ref<double(size_t i, bool isAfter)> time) {
  for (size_t i = 0; i != before.size(); ++i) {
    bool isAfterFirst = before[i].size() % 2;
    double first = time(i, isAfterFirst), second = time(i, !isAfterFirst);
    before[i].push_back(isAfterFirst ? second : first);
    after[i].push_back(isAfterFirst ? first : second);
  }
}

Ratio Comparison::getRatio(size_t i) const {
  std::vector<double> ratios;
  for (auto [old, changed] : llvm::zip_equal(before[i], after[i]))
    ratios.push_back(old / changed);
  return summarize(std::move(ratios));
}

double Comparison::getSeconds(size_t i, bool isAfter) const { return summarize((isAfter ? after : before)[i]).median; }

Ratio Comparison::getRatio() const {
  std::vector<double> means(before.front().size());
  for (size_t round = 0; round != means.size(); ++round) {
    double sum = 0;
    for (size_t i = 0; i != before.size(); ++i)
      sum += std::log(before[i][round] / after[i][round]);
    means[round] = std::exp(sum / static_cast<double>(before.size()));
  }
  return summarize(std::move(means));
}
