// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The room that a CPU has for local rows of kernels: stack memory, so much that a row stays in the first-level cache.
// Not: which values are kept in local rows (rows/RowProgram.h).

#ifndef RESID_CODEGEN_CPU_CHOICE_LOCALROWS_H
#define RESID_CODEGEN_CPU_CHOICE_LOCALROWS_H

#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/rows/RowProgram.h"
#include <optional>
#include <string>

namespace mlir::resid::cpu {

/// What the row programs of a schedule may have of local rows.
kernels::LocalRowLimits getLocalRowLimits(const Schedule &schedule);

/// The bytes of one column of all local rows of a kernel.
int64_t getLocalColumnBytes(rows::KernelOp kernel);

/// How many columns all rows of a batch may have: `columns`, or less, so that the local rows of each fit.
int64_t limitBatchColumns(rows::KernelOp kernel, const ScheduleTable &table, int64_t columns);

/// The stack memory that local rows take, of one row or of those of a batch. 0 where there are none.
int64_t getLocalStackBytes(rows::KernelOp kernel, const ScheduleTable &table);

/// Why a kernel's local rows have no place.
std::optional<std::string> findLocalRowObstacle(rows::KernelOp kernel, const ScheduleTable &table);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_LOCALROWS_H
