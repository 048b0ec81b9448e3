// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA GPUs as a target of kernels. Not: the chips that there are (ptx/Chip.h).

#ifndef RESID_CODEGEN_CUDA_TARGET_H
#define RESID_CODEGEN_CUDA_TARGET_H

#include "codegen/cuda/ptx/Chip.h"
#include "codegen/cuda/rows/RowSchedule.h"
#include "codegen/kernels/Target.h"

namespace mlir::resid::cuda {

/// Which chips kernels are compiled for, and how.
struct Chips {
  std::vector<Chip> chips;
  RowSchedule schedule;
  /// Whether matrix units may add up products of floats, with the chip's order and roundings.
  bool relaxesProducts = false;
  /// NVIDIA's ptxas, which makes machine code beside the PTX of each chip; empty: PTX alone.
  std::string assembler;
};

/// Kernels run on these chips; `host` says what launches them.
std::shared_ptr<const kernels::Target> makeTarget(Chips chips, std::shared_ptr<const kernels::Target> host);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_TARGET_H
