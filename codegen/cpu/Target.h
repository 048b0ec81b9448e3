// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processors as a target of kernels. Not: what is known of a processor (choice/CPUTarget.h).

#ifndef RESID_CODEGEN_CPU_TARGET_H
#define RESID_CODEGEN_CPU_TARGET_H

#include "codegen/kernels/Target.h"
#include "codegen/machine/Target.h"

namespace mlir::resid::cpu {

/// Kernels run on these processors, of which each has code of its own. One schedule holds for all.
std::shared_ptr<const kernels::Target> makeTarget(std::vector<machine::TargetDescription> processors);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_TARGET_H
