// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums down rows that stay in registers: the terms of a chain of rows are added up in registers, and the chains of a
// unit in memory. Not: the sum of all groups (SumKernels.h).

#ifndef RESID_CODEGEN_CUDA_ROWS_REGISTERSUMS_H
#define RESID_CODEGEN_CUDA_ROWS_REGISTERSUMS_H

#include "codegen/cuda/rows/RegisterRows.h"
#include "codegen/cuda/rows/SumKernels.h"

namespace mlir::resid::cuda {

/// Addresses in the memory of the units are multiples of this.
constexpr int64_t kSumAccessBytes = 16;

class RegisterSums : public SumKernels {
public:
  RegisterSums(Code &builder, rows::KernelOp kernel, const rows::KernelAddresses &addresses, const RegisterPlan &plan,
               RowThread &thread)
      : SumKernels(builder, kernel, addresses), plan(plan), thread(thread) {}

  /// All rows of a unit (i64), by the threads that have one.
  void emitUnit(RegisterRowEmitter &emitter, LaneSums &lanes, Value unit);

private:
  using Columns = RegisterRowEmitter::Columns;

  void emitChain(RegisterRowEmitter &emitter, LaneSums &lanes, Value first, Value end);
  void addUp(RegisterRowEmitter &emitter, Value isFirst);
  /// Calls `body` with each chunk in which the thread has columns.
  void forEachChunk(function_ref<void(int64_t)> body);
  Value getAddress(Value level, int64_t chunk);

  const RegisterPlan &plan;
  RowThread &thread;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_REGISTERSUMS_H
