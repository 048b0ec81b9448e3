// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-tune/Report.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir::resid;
using namespace mlir::resid::tune;
using llvm::formatv;

void tune::showProgress(const Progress &progress) {
  if (!llvm::errs().is_displayed())
    return;
  llvm::errs() << formatv("\r\x1b[Kresid-tune: {0} of {1} variants, {2:f0} s: {3}", progress.tried, progress.total,
                          progress.seconds, progress.setting);
  llvm::errs().flush();
}

void tune::endProgress() {
  if (llvm::errs().is_displayed())
    llvm::errs() << "\r\x1b[K";
}

static std::string printRatio(const Ratio &ratio) {
  return formatv("{0:f3} ({1:f3} to {2:f3})", ratio.median, ratio.low, ratio.high);
}

static std::string printMicroseconds(double seconds) {
  return seconds < 1e-6 ? formatv("{0:f4}", seconds * 1e6) : formatv("{0:f2}", seconds * 1e6);
}

/// What the difference between two times is worth.
static llvm::StringRef judge(const Ratio &ratio) {
  return ratio.isFaster() ? "" : ratio.isSlower() ? ", slower" : ", noise";
}

static std::string describeCalls(const Options &options) {
  std::string threads = options.threads == 1 ? "1 thread"
                        : options.threads    ? std::to_string(options.threads) + " threads"
                                             : "all processors";
  return "measured with " + threads +
         (options.readers ? ", and a reader of the results" : ", and no reader of the results") +
         (options.mode == ProgramMode::Inference ? ", for inference" : "");
}

/// Of the defaults alone, where they are the best.
static std::string describeCase(const SearchResult &result, size_t i) {
  const Comparison &comparison = result.comparison;
  std::string before = printMicroseconds(comparison.getSeconds(i, false));
  if (result.schedule.settings.empty())
    return "  " + result.caseNames[i] + ": " + before + " us";
  Ratio ratio = comparison.getRatio(i);
  bool isSameCode = ratio.low == 1 && ratio.high == 1;
  return "  " + result.caseNames[i] + ": " + (isSameCode ? "the same code" : printRatio(ratio) + judge(ratio).str()) +
         ", " + before + (isSameCode ? "" : " -> " + printMicroseconds(comparison.getSeconds(i, true))) + " us";
}

std::vector<std::string> tune::describe(const SearchResult &result, const Options &options) {
  std::vector<std::string> lines = {describeCalls(options)};
  lines.push_back(formatv("{0} of {1} variants tried, {2} of them the same code; all gave the same bits", result.tried,
                          result.total, result.same));
  if (result.isInterrupted)
    lines.push_back("the search was interrupted");
  else if (result.tried < result.total)
    lines.push_back("the time was over before all were tried; --seconds gives more");
  if (!result.noise.empty())
    lines.push_back("noise: " + result.noise + " was not faster when it was measured again");
  lines.push_back(result.schedule.settings.empty()
                      ? "the defaults are the best that was found; the time of a call:"
                      : "times as fast as the defaults: " + printRatio(result.comparison.getRatio()));
  for (size_t i = 0; i != result.caseNames.size(); ++i)
    lines.push_back(describeCase(result, i));
  return lines;
}
