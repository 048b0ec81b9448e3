// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of schedules.

#include "codegen/cpu/choice/Schedule.h"

#include "dialect/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

namespace {

/// One key: its values by name, in the order of the numbers they stand for, and where it is kept.
struct Key {
  StringRef name;
  ArrayRef<StringRef> values;
  unsigned (*get)(const Schedule &schedule);
  void (*set)(Schedule &schedule, unsigned value);
};

template <auto member> constexpr Key makeKey(StringRef name, ArrayRef<StringRef> values) {
  using Value = std::decay_t<decltype(std::declval<Schedule>().*member)>;
  return {name, values, [](const Schedule &schedule) { return static_cast<unsigned>(schedule.*member); },
          [](Schedule &schedule, unsigned value) { schedule.*member = static_cast<Value>(value); }};
}

constexpr StringRef kPaths[] = {"vector", "scalar"};
constexpr StringRef kStores[] = {"auto", "plain", "nontemporal"};
constexpr StringRef kPrefetches[] = {"auto", "off", "on"};
constexpr StringRef kRowOrders[] = {"auto", "single", "pipelined", "batched"};
constexpr StringRef kLocalRows[] = {"auto", "off", "on"};
constexpr StringRef kVectorWidths[] = {"auto", "128", "256", "512"};
const Key kKeys[] = {
    makeKey<&Schedule::path>("path", kPaths),
    makeKey<&Schedule::stores>("stores", kStores),
    makeKey<&Schedule::prefetch>("prefetch", kPrefetches),
    makeKey<&Schedule::rows>("rows", kRowOrders),
    makeKey<&Schedule::localRows>("local-rows", kLocalRows),
    makeKey<&Schedule::vectorWidth>("vector-bits", kVectorWidths),
};

} // namespace

/// The parts as `a, b or c`.
static std::string listNames(ArrayRef<StringRef> names) {
  if (names.size() == 1)
    return names.front().str();
  return join(names.drop_back(), ", ") + " or " + names.back().str();
}

static const Threshold *findThreshold(StringRef name) {
  ArrayRef<Threshold> thresholds = getThresholds();
  const Threshold *found = find_if(thresholds, [name](const Threshold &one) { return one.key == name; });
  return found == thresholds.end() ? nullptr : found;
}

static Error setThreshold(ScheduleTable &table, const Threshold &threshold, StringRef text) {
  int64_t number;
  bool isNumber = !text.getAsInteger(10, number);
  if (isNumber && number >= threshold.least && number <= threshold.most && number % threshold.step == 0) {
    table.*threshold.number = number;
    return Error::success();
  }
  std::string multiples = threshold.step > 1 ? " in multiples of " + std::to_string(threshold.step) : std::string();
  return createStringError("expected " + threshold.key + " from " + Twine(threshold.least) + " to " +
                           Twine(threshold.most) + multiples + " (" + threshold.unit + "), but got '" + text + "'");
}

static Error setKey(Schedule &schedule, StringRef name, StringRef value) {
  if (const Threshold *threshold = findThreshold(name))
    return setThreshold(schedule.table, *threshold, value);
  const Key *key = find_if(kKeys, [name](const Key &candidate) { return candidate.name == name; });
  if (key == std::end(kKeys)) {
    SmallVector<StringRef> names = map_to_vector(kKeys, [](const Key &each) { return each.name; });
    append_range(names, map_range(getThresholds(), [](const Threshold &each) { return each.key; }));
    // There are many keys. So the list does not stand between what was written and what was meant.
    std::string nearest = suggestNearest(name, {names, {}, {}});
    return createStringError("expected a key of the schedule, but got '" + name + "'" +
                             (nearest.empty() ? "; the keys are " + join(names, ", ") : nearest));
  }
  const StringRef *place = find(key->values, value);
  if (place == key->values.end())
    return createStringError("expected " + name + "=" + listNames(key->values) + ", but got '" + value + "'" +
                             suggestNearest(value, {key->values, {}, {}}));
  key->set(schedule, place - key->values.begin());
  return Error::success();
}

const Setting *Schedule::findSetting(StringRef key) const {
  auto found = find_if(settings, [key](const Setting &setting) { return setting.key == key; });
  return found == settings.end() ? nullptr : &*found;
}

Error Schedule::set(StringRef key, StringRef value, StringRef source) {
  if (Error error = setKey(*this, key, value))
    return error;
  if (const Setting *earlier = findSetting(key))
    return createStringError("expected " + key + " once, but got " + key + "=" + earlier->value + " and " + key + "=" +
                             value);
  settings.push_back({key.str(), value.str(), source.str()});
  return Error::success();
}

Expected<Schedule> cpu::parseSchedule(StringRef text) {
  Schedule schedule;
  SmallVector<StringRef> given;
  if (!text.empty())
    text.split(given, ',');
  for (StringRef setting : given) {
    auto [key, value] = setting.split('=');
    if (Error error = schedule.set(key, value, "--schedule"))
      return error;
  }
  return schedule;
}

std::vector<NamedValues> cpu::getNamedValues() {
  std::vector<NamedValues> keys;
  for (const Key &key : kKeys)
    keys.push_back({key.name, key.values});
  return keys;
}

std::string cpu::printSchedule(const Schedule &schedule) {
  auto settings =
      map_to_vector(kKeys, [&](const Key &key) { return (key.name + "=" + key.values[key.get(schedule)]).str(); });
  for (const Threshold &threshold : getThresholds())
    if (int64_t number = schedule.table.*threshold.number; number != ScheduleTable().*threshold.number)
      settings.push_back((threshold.key + "=" + Twine(number)).str());
  return join(settings, ",");
}

std::string cpu::printSettings(const Schedule &schedule) {
  return join(map_range(schedule.settings, [](const Setting &setting) { return setting.key + "=" + setting.value; }),
              ",");
}
