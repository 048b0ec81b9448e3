// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of a GPU that a row kernel is outlined into, and its launches. Not: how a warp runs a row
// (LoopedRows.h).

#ifndef RESID_CODEGEN_CUDA_ROWS_ROWKERNELS_H
#define RESID_CODEGEN_CUDA_ROWS_ROWKERNELS_H

#include "codegen/cuda/DeviceKernel.h"
#include "codegen/cuda/rows/RegisterPlan.h"

namespace mlir::resid::cuda {

/// Warps of a block, each of which runs rows of its own.
constexpr int64_t kBlockWarps = 4;

class RowKernel : public DeviceKernel {
public:
  RowKernel(kernels::KernelUse first, SymbolTable &symbols, const RowSchedule &schedule, int64_t &count)
      : DeviceKernel(std::move(first), symbols, count), schedule(schedule) {}

  /// Makes the function that runs rows, and for sums down the rows that of their results after it.
  void emit() override;
  LogicalResult launch(kernels::KernelUse &use) override;

private:
  LogicalResult launchRows(kernels::KernelUse &use, Value units, ArrayRef<Value> arguments);

  const RowSchedule &schedule;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_ROWKERNELS_H
