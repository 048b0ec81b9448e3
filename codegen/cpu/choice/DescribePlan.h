// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CPU's plan for a kernel in the words of reports. Not: the plan (KernelPlan.h).

#ifndef RESID_CODEGEN_CPU_CHOICE_DESCRIBEPLAN_H
#define RESID_CODEGEN_CPU_CHOICE_DESCRIBEPLAN_H

#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/kernels/PlanDescription.h"
#include "codegen/rows/RowsDialect.h"

namespace mlir::resid::cpu {

/// Plans the kernel for the CPU of that name.
kernels::PlanDescription describePlan(rows::KernelOp kernel, llvm::StringRef name, const CPUTarget &target);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_DESCRIBEPLAN_H
