// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kernels can work on two rows at a time: the last phase of a row and the first one of the next row are one loop
// over the columns. Memory is read while the row before is worked on, and both are in one place of the program. Not:
// where that pays (RowOrderChoice.h).

#ifndef RESID_CODEGEN_CPU_ROWS_PIPELINEDROWS_H
#define RESID_CODEGEN_CPU_ROWS_PIPELINEDROWS_H

#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/rows/RowsDialect.h"
#include <optional>
#include <string>

namespace mlir::resid::cpu {

/// Why the version that writes past the cache cannot, as the end of a sentence; nothing where it can.
std::optional<std::string> findPipelineObstacle(rows::KernelOp kernel, const CPUTarget &target);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_PIPELINEDROWS_H
