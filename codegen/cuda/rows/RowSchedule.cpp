// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/rows/RowSchedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <limits>

using namespace llvm;
using namespace mlir::resid;
using namespace mlir::resid::cuda;

/// With accesses of sixteen bytes there are a quarter fewer instructions than with eight, and about as many registers
/// for a row: half as many threads have up to twice as many each. Of wider rows of 16-bit elements, a thread would have
/// to keep more than it may have. Seen in PTX and in what ptxas makes of it only: docs/schedules.md.
static constexpr int64_t kAnyWidth = std::numeric_limits<int64_t>::max();
static constexpr LaneChoice kLaneTable[] = {
    {4, kAnyWidth, 4},
    {1, 512, 8},
    {1, kAnyWidth, 4},
};

ArrayRef<LaneChoice> mlir::resid::cuda::getLaneTable() { return kLaneTable; }

namespace {

/// One key: the names of its values, and what they set.
struct Key {
  StringRef name;
  ArrayRef<StringRef> values;
  void (*set)(RowSchedule &schedule, StringRef value);
};

constexpr StringRef kLanes[] = {"auto", "2", "4", "8"};
constexpr StringRef kRows[] = {"auto", "many", "1", "2", "4", "8", "16", "32", "64", "128"};
constexpr StringRef kWeights[] = {"reload", "registers"};

/// 0 for `auto`.
int64_t getNumber(StringRef value) {
  int64_t number = 0;
  (void)value.getAsInteger(10, number);
  return number;
}

const Key kKeys[] = {
    {"gpu-lanes", kLanes, [](RowSchedule &schedule, StringRef value) { schedule.lanes = getNumber(value); }},
    {"gpu-rows", kRows,
     [](RowSchedule &schedule, StringRef value) {
       schedule.blockRows = value == "many" ? kManyRows : getNumber(value);
     }},
    {"gpu-weights", kWeights,
     [](RowSchedule &schedule, StringRef value) {
       schedule.weights = value == "registers" ? WeightKind::Registers : WeightKind::Reload;
     }},
};

} // namespace

Error RowSchedule::set(StringRef name, StringRef value) {
  const Key *key = find_if(kKeys, [name](const Key &each) { return each.name == name; });
  if (key == std::end(kKeys))
    return createStringError("expected " + join(map_range(kKeys, [](const Key &each) { return each.name; }), ", ") +
                             " or another key of the schedule, but got '" + name + "'");
  if (!is_contained(key->values, value))
    return createStringError("expected " + name + "=" + join(key->values, "|") + ", but got '" + value + "'");
  key->set(*this, value);
  return Error::success();
}
