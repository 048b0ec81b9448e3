// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-tune/Search.h"

#include "tools/resid-tune/Candidates.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <optional>

using namespace mlir::resid;
using llvm::Error;
using llvm::Expected;

namespace {

/// Rounds after which a variant that is clearly slower is left, and after which any is judged.
constexpr unsigned kFewRounds = 4, kRounds = 12;
/// Rounds of the last comparison, with the defaults.
constexpr unsigned kLastRounds = 24;
/// What a variant must win at least to be worth a setting, and how much slower it may make one of the cases.
constexpr double kLeastGain = 1.01, kMostLoss = 0.97;
/// The part of the time that is kept for taking settings out again, and for the last comparison.
constexpr double kLastPart = 0.25;

/// Seconds since it was made.
class Stopwatch {
public:
  double get() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

class Searcher {
public:
  Searcher(llvm::ArrayRef<tune::Case> cases, const tune::SearchOptions &options,
           const std::function<void(const tune::Progress &)> &report)
      : cases(cases), options(options), report(report) {}

  Error begin();
  Error run();
  Error prune();
  tune::SearchResult finish();

private:
  Error lateError(const std::string &when = "the time was over before a variant was tried",
                  bool hasShapes = false) const;
  Error checkTime(const tune::Case &one) const;
  void show(const std::string &what);
  bool isLate() const { return options.isInterrupted() || watch.get() > options.seconds * (1 - kLastPart); }
  Expected<bool> tryCandidate(const tune::Candidate &candidate);
  Error checkResults(const tune::Variant &variant);
  void addRound(tune::Comparison &comparison, const tune::Variant &before, const tune::Variant &after);
  std::optional<bool> isBetter(const tune::Variant &variant);

  llvm::ArrayRef<tune::Case> cases;
  const tune::SearchOptions &options;
  const std::function<void(const tune::Progress &)> &report;
  Stopwatch watch;
  tune::Variant usual, best;
  std::vector<tune::Subject> subjects;
  /// Per case, whether the first of the two measurements of a round was made.
  std::vector<bool> isMeasured;
  std::vector<tune::Candidate> candidates;
  tune::Progress progress;
  unsigned same = 0;
};

Error Searcher::begin() {
  Expected<tune::Variant> variant = tune::makeVariant(cases, {}, options.variant, nullptr);
  if (!variant)
    return variant.takeError();
  usual = best = std::move(*variant);
  for (auto [one, function] : llvm::zip_equal(cases, usual.functions)) {
    show("making arrays for " + one.getName());
    if (isLate())
      return lateError();
    double seconds = tune::estimateSeconds(tune::countElements(one, function.compiled.signature));
    if (watch.get() + seconds > options.seconds * (1 - kLastPart))
      return lateError(llvm::formatv("the arrays of '{0}' take {1:f1} s or more to make", one.getName(), seconds),
                       !one.shape.empty());
    auto subject = tune::Subject::create(one, function.compiled.signature, function.getEntry(), options.call,
                                         [&, &one = one] { return checkTime(one); });
    if (!subject)
      return subject.takeError();
    subjects.push_back(std::move(*subject));
    isMeasured.push_back(false);
  }
  // The name is one that makeVariant() has resolved.
  unsigned vectorBits = llvm::cantFail(machine::resolveTarget("", options.variant.mcpu)).facts.vectorBits;
  candidates = tune::listCandidates(options.keys, vectorBits);
  return Error::success();
}

/// Nothing was measured.
Error Searcher::lateError(const std::string &when, bool hasShapes) const {
  if (options.isInterrupted())
    return run::makeError(tools::ExitUsage, "interrupted before a variant was tried; nothing was written");
  return run::makeError(tools::ExitUsage, llvm::Twine("expected more --seconds") +
                                              (hasShapes ? " or smaller --shapes" : "") + ": " + when +
                                              "; nothing was written");
}

Error Searcher::checkTime(const tune::Case &one) const {
  if (!isLate())
    return Error::success();
  return lateError("the time was over while the arrays of '" + one.getName() + "' were made", !one.shape.empty());
}

Error Searcher::checkResults(const tune::Variant &variant) {
  for (auto [subject, function, old] : llvm::zip_equal(subjects, variant.functions, best.functions)) {
    if (function.isSameCode(old))
      continue;
    Expected<bool> isSame = subject.hasSameResults(function.getEntry());
    if (!isSame)
      return isSame.takeError();
    if (!*isSame)
      return run::makeError(tools::ExitInternal, subject.getName() + ": other results with --schedule=" +
                                                     cpu::printSettings(variant.schedule));
  }
  return Error::success();
}

/// Where the code is the same in both, it is measured once: the ratio is 1.
void Searcher::addRound(tune::Comparison &comparison, const tune::Variant &before, const tune::Variant &after) {
  double seconds = 0;
  comparison.addRound([&](size_t i, bool isAfter) {
    bool isSecond = isMeasured[i];
    isMeasured[i] = !isSecond;
    if (!isSecond || !before.functions[i].isSameCode(after.functions[i]))
      seconds = subjects[i].time((isAfter ? after : before).functions[i].getEntry());
    return seconds;
  });
}

/// Judged twice: of a hundred variants that change nothing, some look faster once. Nothing where the time was over
/// before the verdict: calls of large arrays take long.
std::optional<bool> Searcher::isBetter(const tune::Variant &variant) {
  tune::Comparison comparison(subjects.size());
  for (unsigned round = 0; round != 2 * kRounds; ++round) {
    bool isFirstVerdict = round == kFewRounds || round == kRounds;
    if (isFirstVerdict && (round == kRounds ? !comparison.getRatio().isFaster() : comparison.getRatio().isSlower()))
      return false;
    if (isLate())
      return std::nullopt;
    addRound(comparison, best, variant);
  }
  for (size_t i = 0; i != subjects.size(); ++i)
    if (comparison.getRatio(i).isSlower() && comparison.getRatio(i).median < kMostLoss)
      return false;
  tune::Ratio ratio = comparison.getRatio();
  return ratio.isFaster() && ratio.median >= kLeastGain;
}

/// Whether there was time for a verdict.
Expected<bool> Searcher::tryCandidate(const tune::Candidate &candidate) {
  Expected<tune::Variant> variant =
      tune::makeVariant(cases, tune::change(best.schedule, candidate), options.variant, &best);
  if (!variant)
    return variant.takeError();
  auto isSame = [](const tune::VariantFunction &a, const tune::VariantFunction &b) { return a.isSameCode(b); };
  if (std::equal(variant->functions.begin(), variant->functions.end(), best.functions.begin(), isSame)) {
    ++same;
    return true;
  }
  if (Error error = checkResults(*variant))
    return std::move(error);
  std::optional<bool> verdict = isBetter(*variant);
  if (verdict.value_or(false))
    best = std::move(*variant);
  return verdict.has_value();
}

/// The second time around, what was not worth it before may be.
Error Searcher::run() {
  for (std::string before = "none"; before != cpu::printSettings(best.schedule);) {
    before = cpu::printSettings(best.schedule);
    auto isNew = [&](const tune::Candidate &candidate) { return !tune::has(best.schedule, candidate); };
    progress.total = progress.tried + static_cast<unsigned>(llvm::count_if(candidates, isNew));
    for (const tune::Candidate &candidate : candidates) {
      if (!isNew(candidate))
        continue;
      if (isLate())
        return progress.tried ? Error::success() : lateError();
      show(candidate.key + "=" + candidate.value);
      Expected<bool> isTried = tryCandidate(candidate);
      if (!isTried)
        return isTried.takeError();
      progress.tried += *isTried;
    }
  }
  return progress.tried || !isLate() ? Error::success() : lateError();
}

/// Takes out what later settings made superfluous, and what was faster by chance.
Error Searcher::prune() {
  for (const cpu::Setting &setting : cpu::Schedule(best.schedule).settings) {
    show("without " + setting.key + "=" + setting.value);
    Expected<tune::Variant> without =
        tune::makeVariant(cases, tune::reset(best.schedule, setting.key), options.variant, &best);
    if (!without)
      return without.takeError();
    tune::Comparison comparison(subjects.size());
    for (unsigned round = 0; round != kRounds && (round < kFewRounds || watch.get() < options.seconds); ++round)
      addRound(comparison, *without, best);
    if (!comparison.getRatio().isFaster())
      best = std::move(*without);
  }
  return Error::success();
}

void Searcher::show(const std::string &what) {
  progress.seconds = watch.get();
  progress.setting = what;
  report(progress);
}

tune::SearchResult Searcher::finish() {
  tune::SearchResult result{best.schedule, tune::Comparison(subjects.size())};
  result.tried = progress.tried;
  result.same = same;
  result.total = progress.total;
  result.isInterrupted = options.isInterrupted();
  show("the defaults again");
  for (unsigned round = 0; round != kLastRounds && (round < kFewRounds || watch.get() < options.seconds); ++round)
    addRound(result.comparison, usual, best);
  for (const tune::Subject &subject : subjects)
    result.caseNames.push_back(subject.getName());
  if (!best.schedule.settings.empty() && !result.comparison.getRatio().isFaster()) {
    result.noise = cpu::printSettings(best.schedule);
    result.schedule = {};
  }
  result.seconds = watch.get();
  return result;
}

} // namespace

Expected<tune::SearchResult> tune::search(llvm::ArrayRef<Case> cases, const SearchOptions &options,
                                          const std::function<void(const Progress &)> &progress) {
  Searcher searcher(cases, options, progress);
  if (Error error = searcher.begin())
    return std::move(error);
  if (Error error = searcher.run())
    return std::move(error);
  if (Error error = searcher.prune())
    return std::move(error);
  return searcher.finish();
}
