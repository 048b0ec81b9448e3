// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search for a schedule: one key after the other, each variant measured by turns with the best one so far.

#ifndef RESID_TOOLS_RESID_TUNE_SEARCH_H
#define RESID_TOOLS_RESID_TUNE_SEARCH_H

#include "tools/resid-tune/Comparison.h"
#include "tools/resid-tune/Subject.h"
#include "tools/resid-tune/Variant.h"
#include <functional>

namespace mlir::resid::tune {

struct SearchOptions {
  VariantOptions variant;
  CallOptions call;
  /// Keys of the schedule to try; all where empty.
  std::vector<std::string> keys;
  double seconds;
  /// Whether somebody wants the search to end now, with what it has found.
  std::function<bool()> isInterrupted;
};

/// Where the search stands.
struct Progress {
  unsigned tried = 0, total = 0;
  double seconds = 0;
  /// What is tried now.
  std::string setting;
};

struct SearchResult {
  cpu::Schedule schedule;
  /// Defaults before, schedule after; of the schedule that was best in the search, also where it is noise.
  Comparison comparison;
  std::vector<std::string> caseNames = {};
  /// The settings of a schedule that was best in the search, but not when it was measured again.
  std::string noise = {};
  /// `same` of those tried made the same code.
  unsigned tried = 0, same = 0, total = 0;
  double seconds = 0;
  bool isInterrupted = false;
};

/// An error where the time is over before the first variant was tried, where a function refuses its call, or gives
/// other results by another schedule, which is a mistake in resid.
llvm::Expected<SearchResult> search(llvm::ArrayRef<Case> cases, const SearchOptions &options,
                                    const std::function<void(const Progress &)> &progress);

} // namespace mlir::resid::tune

#endif // RESID_TOOLS_RESID_TUNE_SEARCH_H
