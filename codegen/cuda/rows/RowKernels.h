// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of a GPU that a row kernel is outlined into, and its launches. Not: how a warp runs a row
// (LoopedRows.h).

#ifndef RESID_CODEGEN_CUDA_ROWS_ROWKERNELS_H
#define RESID_CODEGEN_CUDA_ROWS_ROWKERNELS_H

#include "codegen/cuda/rows/RegisterPlan.h"
#include "codegen/kernels/KernelLowering.h"

namespace mlir::resid::cuda {

/// Warps of a block, each of which runs rows of its own.
constexpr int64_t kBlockWarps = 4;

class RowKernel : public kernels::KernelCode {
public:
  /// `count`: how many functions the module's kernels have so far; each function gets a number.
  RowKernel(kernels::KernelUse first, SymbolTable &symbols, const RowSchedule &schedule, int64_t &count)
      : KernelCode(std::move(first), symbols), schedule(schedule), count(count) {}

  /// Makes the function that runs rows, and for sums down the rows that of their results after it.
  void emit() override;
  LogicalResult launch(kernels::KernelUse &use) override;

private:
  LogicalResult launchRows(kernels::KernelUse &use, Value units, ArrayRef<Value> arguments);

  const RowSchedule &schedule;
  int64_t &count;
  /// Of the first function.
  int64_t number = 0;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_ROWKERNELS_H
