// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-tune/Candidates.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::resid;
using namespace mlir::resid::tune;

/// The text of the key's default.
static std::string getDefault(llvm::StringRef key) {
  for (const cpu::Threshold &threshold : cpu::getThresholds())
    if (threshold.key == key)
      return std::to_string(cpu::ScheduleTable().*threshold.number);
  for (const cpu::NamedValues &named : cpu::getNamedValues())
    if (named.key == key)
      return named.values.front().str();
  return "";
}

static void addThreshold(std::vector<Candidate> &candidates, const cpu::Threshold &threshold) {
  int64_t usual = cpu::ScheduleTable().*threshold.number;
  for (int64_t number : {usual / 4, usual / 2, usual * 2, usual * 4}) {
    int64_t allowed = number / threshold.step * threshold.step;
    if (allowed >= threshold.least && allowed <= threshold.most && allowed != usual)
      candidates.push_back({threshold.key.str(), std::to_string(allowed)});
  }
}

std::vector<Candidate> tune::listCandidates(llvm::ArrayRef<std::string> keys, unsigned vectorBits) {
  auto isWanted = [&](llvm::StringRef key) { return keys.empty() || llvm::is_contained(keys, key); };
  std::vector<Candidate> candidates;
  for (const cpu::NamedValues &named : cpu::getNamedValues())
    for (llvm::StringRef value : named.values) {
      unsigned bits = 0;
      bool isTooWide = named.key == "vector-bits" && !value.getAsInteger(10, bits) && bits >= vectorBits;
      if (isWanted(named.key) && !isTooWide)
        candidates.push_back({named.key.str(), value.str()});
    }
  for (const cpu::Threshold &threshold : cpu::getThresholds())
    if (isWanted(threshold.key))
      addThreshold(candidates, threshold);
  return candidates;
}

cpu::Schedule tune::reset(const cpu::Schedule &schedule, llvm::StringRef key) {
  cpu::Schedule changed;
  for (const cpu::Setting &setting : schedule.settings)
    if (setting.key != key)
      llvm::cantFail(changed.set(setting.key, setting.value, setting.source));
  return changed;
}

cpu::Schedule tune::change(const cpu::Schedule &schedule, const Candidate &candidate) {
  cpu::Schedule changed = reset(schedule, candidate.key);
  if (candidate.value != getDefault(candidate.key))
    llvm::cantFail(changed.set(candidate.key, candidate.value, "resid-tune"));
  return changed;
}

bool tune::has(const cpu::Schedule &schedule, const Candidate &candidate) {
  const cpu::Setting *setting = schedule.findSetting(candidate.key);
  return candidate.value == (setting ? setting->value : getDefault(candidate.key));
}
