// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a CPU runs attention, in the words of reports. Not: the choice (MicroKernelShape.h).

#ifndef RESID_CODEGEN_CPU_ATTENTION_DESCRIBEATTENTION_H
#define RESID_CODEGEN_CPU_ATTENTION_DESCRIBEATTENTION_H

#include "codegen/attention/AttentionDialect.h"
#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/kernels/PlanDescription.h"

namespace mlir::resid::cpu {

/// Plans the kernel, on tensors, for the CPU of that name.
kernels::PlanDescription describeAttention(attention::KernelOp kernel, llvm::StringRef name, const CPUTarget &target);
kernels::PlanDescription describeAttention(attention::BackwardOp kernel, llvm::StringRef name, const CPUTarget &target);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ATTENTION_DESCRIBEATTENTION_H
