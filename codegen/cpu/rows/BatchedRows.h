// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narrow rows in batches: each phase goes over a few rows before the next one begins. The sums, roots and divisions of
// a row wait for each other, and wide rows hide that by their columns; narrow ones hide it by other rows, which a
// processor sees as independent only if they are near in the program. Not: which schedules ask for it (KernelPlan.h).

#ifndef RESID_CODEGEN_CPU_ROWS_BATCHEDROWS_H
#define RESID_CODEGEN_CPU_ROWS_BATCHEDROWS_H

#include "codegen/rows/RowsDialect.h"
#include <optional>
#include <string>

namespace mlir::resid::cpu {

/// Columns in all rows of a batch, each row taken to be as wide as whole chunks. What a batch reads and writes stays in
/// the first level of the cache. Wider rows are batches of their own.
constexpr int64_t kBatchColumns = 1024;

/// Why a kernel's rows cannot be worked on in batches, as the end of a sentence; nothing where they can.
std::optional<std::string> findBatchObstacle(rows::KernelOp kernel);

/// Whether a batch of one row is worth code of its own, without the arrays and loops of batches: where a row is known
/// to be one chunk of columns, that code has no loop at all.
bool paysToRunAlone(rows::KernelOp kernel);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_BATCHEDROWS_H
