// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The value of --schedule=KEY=VALUE[,...]: keys of CPUs, and those of GPUs, which begin with `gpu-`. Not: what they
// mean.

#ifndef RESID_TOOLS_COMMON_SCHEDULEFLAG_H
#define RESID_TOOLS_COMMON_SCHEDULEFLAG_H

#include "codegen/cpu/choice/Schedule.h"
#include "codegen/cuda/rows/RowSchedule.h"

namespace mlir::resid::tools {

struct ScheduleFlag {
  cpu::Schedule ofCPUs;
  cuda::RowSchedule ofGPUs;
};

/// The error names the flag, and the keys or values there are. A `gpu-` key is one where kernels do not run on GPUs.
llvm::Expected<ScheduleFlag> parseScheduleFlag(llvm::StringRef text, bool isForDevice);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_COMMON_SCHEDULEFLAG_H
