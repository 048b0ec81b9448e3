// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/ScheduleFlag.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace mlir::resid;
using namespace mlir::resid::tools;

static Error makeScheduleError(const Twine &message) { return createStringError("--schedule: " + message); }

Expected<ScheduleFlag> tools::parseScheduleFlag(StringRef text, bool isForDevice) {
  ScheduleFlag flag;
  SmallVector<StringRef> settings, ofCPUs;
  StringSet<> given;
  text.split(settings, ',');
  for (StringRef setting : settings) {
    auto [key, value] = setting.split('=');
    if (!key.starts_with(cuda::kScheduleKeyPrefix)) {
      if (isForDevice)
        return makeScheduleError("expected keys of GPUs, which begin with '" + cuda::kScheduleKeyPrefix +
                                 "', where kernels run on one, but got '" + key + "'");
      ofCPUs.push_back(setting);
      continue;
    }
    if (!isForDevice)
      return makeScheduleError("expected keys of CPUs where kernels run on one, but got '" + key + "'");
    if (Error error = flag.ofGPUs.set(key, value))
      return makeScheduleError(toString(std::move(error)));
    if (!given.insert(key).second)
      return makeScheduleError("expected " + key + " once, but got it twice in '" + text + "'");
  }
  if (settings.size() > ofCPUs.size() && ofCPUs.empty())
    return flag;
  Expected<cpu::Schedule> schedule = cpu::parseSchedule(join(ofCPUs, ","));
  if (!schedule)
    return makeScheduleError(toString(schedule.takeError()));
  flag.ofCPUs = std::move(*schedule);
  return flag;
}
