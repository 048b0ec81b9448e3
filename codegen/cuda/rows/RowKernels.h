// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The row kernels of a module, the functions of a GPU that they are outlined into, which equal kernels share, and their
// launches. Not: how a warp runs a row (LoopedRows.h).

#ifndef RESID_CODEGEN_CUDA_ROWS_ROWKERNELS_H
#define RESID_CODEGEN_CUDA_ROWS_ROWKERNELS_H

#include "codegen/cuda/rows/RegisterPlan.h"
#include "codegen/kernels/KernelFunctions.h"
#include <deque>

namespace mlir::resid::cuda {

/// Warps of a block, each of which runs rows of its own.
constexpr int64_t kBlockWarps = 4;

class RowKernels {
public:
  RowKernels(SymbolTable &symbols, const RowSchedule &schedule) : symbols(symbols), schedule(schedule) {}

  /// Takes in a kernel; an error where a GPU does not run it.
  LogicalResult add(rows::KernelOp kernel);
  /// Makes the functions, and launches in the places of all kernels.
  LogicalResult emit();

private:
  struct Call {
    kernels::KernelUse use;
    kernels::KernelFunctions *functions;
  };

  /// Makes the function that runs rows, and for sums down the rows that of their results behind it.
  void outline(kernels::KernelFunctions &functions);
  LogicalResult emitLaunches(Call &call);
  LogicalResult emitRowLaunch(Call &call, Value units, ArrayRef<Value> arguments);
  /// `threads`: of a block. `registers`: what a thread may have at most, or 0 where the driver's compiler decides.
  void mark(func::FuncOp function, int64_t threads, int64_t registers);

  SymbolTable &symbols;
  const RowSchedule &schedule;
  std::deque<kernels::KernelFunctions> codes;
  std::vector<Call> calls;
  /// The numbers of their first functions; and how many functions there are.
  DenseMap<kernels::KernelFunctions *, int64_t> numbers;
  int64_t count = 0;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_ROWKERNELS_H
