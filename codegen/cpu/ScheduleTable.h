// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which schedule a kernel gets where nothing else was asked for, from measurements. Not: what the schedules do (VectorRows.h).

#ifndef RESID_CODEGEN_CPU_SCHEDULETABLE_H
#define RESID_CODEGEN_CPU_SCHEDULETABLE_H

#include "codegen/cpu/Schedule.h"
#include "codegen/rows/RowsDialect.h"

namespace mlir::resid::cpu {

/// Whether a kernel's version that writes past the cache prefetches, as `schedule` says or, by itself, what was measured.
bool usesPrefetch(rows::KernelOp kernel, const Schedule &schedule);

/// The number of columns of a kernel where it is known.
std::optional<int64_t> getStaticWidth(rows::KernelOp kernel);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_SCHEDULETABLE_H
