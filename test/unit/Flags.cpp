// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of flags say what the compiler says elsewhere: keys of schedules.

#include "codegen/cpu/choice/Schedule.h"
#include "tools/flags/Tool.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace mlir::resid;
using namespace mlir::resid::tools;

TEST(Flags, ScheduleHelpNamesEachKey) {
  llvm::StringRef help = residc::tool.flags->getOptionHelpText(residc::OPT_schedule);
  std::string settings = cpu::printSchedule({});
  for (llvm::StringRef setting : llvm::split(settings, ','))
    EXPECT_TRUE(help.contains(setting.split('=').first.str() + "=")) << setting.str();
}
