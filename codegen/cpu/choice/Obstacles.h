// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What keeps a kernel from a way of being run, read off its row program. Each answer is the end of a sentence for
// reports; no answer means that nothing stands in the way. Not: whether the way would be faster (KernelPlan.cpp).

#ifndef RESID_CODEGEN_CPU_CHOICE_OBSTACLES_H
#define RESID_CODEGEN_CPU_CHOICE_OBSTACLES_H

#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/rows/RowsDialect.h"
#include <optional>
#include <string>

namespace mlir::resid::cpu {

/// Whether the op, in a phase, says the number of the column as an i32: all that a phase may compute with its column.
bool isColumnNumber(Operation *op);

/// Why the vector path cannot take a kernel.
std::optional<std::string> findVectorObstacle(rows::KernelOp kernel);

/// The phase of a kernel with sums down the rows, where it is the only one and short: eight rows of a chain are then
/// worked on together (rows/VectorChains.cpp), and none is written past the cache.
rows::PhaseOp findChainPhase(rows::KernelOp kernel);

/// Why a kernel's rows cannot be worked on in batches of so many columns (rows/BatchedRows.cpp).
std::optional<std::string> findBatchObstacle(rows::KernelOp kernel, int64_t columns);

/// Why the version that writes past the cache cannot be pipelined (rows/PipelinedRows.cpp).
std::optional<std::string> findPipelineObstacle(rows::KernelOp kernel, const CPUTarget &target);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_OBSTACLES_H
