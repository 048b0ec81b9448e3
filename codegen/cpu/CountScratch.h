// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much scratch memory kernels take on processors.

#ifndef RESID_CODEGEN_CPU_COUNTSCRATCH_H
#define RESID_CODEGEN_CPU_COUNTSCRATCH_H

#include "codegen/kernels/Target.h"

namespace mlir::resid::cpu {

/// See kernels::Target::countScratch.
FailureOr<kernels::ScratchShape> countScratch(OpBuilder &builder, kernels::KernelOpInterface kernel);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_COUNTSCRATCH_H
