// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report says of a kernel that runs on a GPU. Not: how it is emitted (rows/).

#ifndef RESID_CODEGEN_CUDA_DESCRIBEROWS_H
#define RESID_CODEGEN_CUDA_DESCRIBEROWS_H

#include "codegen/cuda/ptx/Chip.h"
#include "codegen/cuda/rows/RowSchedule.h"
#include "codegen/kernels/PlanDescription.h"

namespace mlir::resid::cuda {

/// Of a kernel of any kind. What a GPU does not run is refused later, so that nothing is said of it.
kernels::PlanDescription describeKernel(Operation *kernel, const Chip &chip, const RowSchedule &schedule);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_DESCRIBEROWS_H
