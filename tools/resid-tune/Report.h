// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said about a search, in lines for people; they are also the comments of the schedule file.

#ifndef RESID_TOOLS_RESID_TUNE_REPORT_H
#define RESID_TOOLS_RESID_TUNE_REPORT_H

#include "tools/resid-tune/Search.h"

namespace mlir::resid::tune {

/// What was measured how, what was tried and found, and what it is worth in each case.
std::vector<std::string> describe(const SearchResult &result, const Options &options);

/// One line that is overwritten, where somebody looks on; elsewhere nothing.
void showProgress(const Progress &progress);
void endProgress();

} // namespace mlir::resid::tune

#endif // RESID_TOOLS_RESID_TUNE_REPORT_H
