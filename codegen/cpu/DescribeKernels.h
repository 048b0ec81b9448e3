// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CPU's plans in the words of reports. Emits nothing. Not: the plans (choice/, contractions/MicroKernelShape.h).

#ifndef RESID_CODEGEN_CPU_DESCRIBEKERNELS_H
#define RESID_CODEGEN_CPU_DESCRIBEKERNELS_H

#include "codegen/contractions/ContractionDialect.h"
#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/kernels/PlanDescription.h"

namespace mlir::resid::cpu {

/// Plans a kernel of any kind, on tensors, for the CPU of that name.
kernels::PlanDescription describeKernel(Operation *kernel, llvm::StringRef name, const CPUTarget &target);

/// Whether the kernels of a contraction.row_blocks run by blocks of rows; `others` are the names of all but one.
kernels::PlanDecision describeRowBlocks(contraction::RowBlocksOp blocks, llvm::ArrayRef<std::string> others,
                                        const CPUTarget &target);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_DESCRIBEKERNELS_H
