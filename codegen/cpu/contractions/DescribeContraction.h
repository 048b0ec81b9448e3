// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a CPU runs a contraction, in the words of reports. Not: the choice (MicroKernelShape.h).

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_DESCRIBECONTRACTION_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_DESCRIBECONTRACTION_H

#include "codegen/contractions/ContractionDialect.h"
#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/kernels/PlanDescription.h"

namespace mlir::resid::cpu {

/// What all kernels around micro-kernels decide: the micro-kernel of an arithmetic type, and the width of vectors.
std::pair<kernels::PlanDecision, kernels::PlanDecision> describeMicroKernels(const CPUTarget &target,
                                                                             FloatType arithmetic);

/// Plans the kernel, on tensors, for the CPU of that name.
kernels::PlanDescription describeContraction(contraction::KernelOp kernel, llvm::StringRef name,
                                             const CPUTarget &target);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_DESCRIBECONTRACTION_H
