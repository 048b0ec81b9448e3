// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report says of kernels that may run by blocks of rows. Emits nothing.

#ifndef RESID_CODEGEN_CPU_BLOCKS_DESCRIBEROWBLOCKS_H
#define RESID_CODEGEN_CPU_BLOCKS_DESCRIBEROWBLOCKS_H

#include "codegen/contractions/ContractionDialect.h"
#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/kernels/PlanDescription.h"

namespace mlir::resid::cpu {

/// Whether the kernels of a contraction.row_blocks run by blocks of rows; `others` are the names of all but one.
kernels::PlanDecision describeRowBlocks(contraction::RowBlocksOp blocks, llvm::ArrayRef<std::string> others,
                                        const CPUTarget &target);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_BLOCKS_DESCRIBEROWBLOCKS_H
