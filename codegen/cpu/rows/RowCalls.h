// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The row kernels of a module with the functions that they are outlined into, which equal kernels share, and the calls
// that run them. Not: what is emitted into the functions (RowFunctions.h).

#ifndef RESID_CODEGEN_CPU_ROWS_ROWCALLS_H
#define RESID_CODEGEN_CPU_ROWS_ROWCALLS_H

#include "codegen/cpu/rows/RowFunctions.h"
#include "codegen/kernels/Tasks.h"
#include <deque>

namespace mlir::resid::cpu {

/// A kernel's functions on a CPU, and those that run its tasks.
struct RowCode {
  RowCode(kernels::KernelUse first, KernelPlan plan, SymbolTable &symbols, const CPUTarget &target)
      : functions(std::move(first), std::move(plan), symbols, target), task(functions.getShared()),
        resultTask(functions.getShared(), "__sums_task") {}

  RowFunctions functions;
  kernels::TaskFunction task, resultTask;
};

/// A kernel where it stands.
struct RowCall {
  kernels::KernelUse use;
  KernelPlan plan;
  RowCode *code;
};

class RowKernels {
public:
  RowKernels(SymbolTable &symbols, const CPUTarget &target) : symbols(symbols), target(target) {}

  /// Takes in a kernel; an error where this target has no room for what it keeps.
  FailureOr<RowCall> add(rows::KernelOp kernel);
  /// Makes the functions of all kernels that were taken in.
  void outline();
  /// Runs a kernel in its place.
  void emitCalls(RowCall &call);

  /// What callRows needs of a call, made at the builder's position.
  SmallVector<Value> makeValues(OpBuilder &builder, RowCall &call);
  /// Runs the rows [low, high) of a kernel, or with sums down the rows the lanes. `values` are those of makeValues,
  /// where they are visible.
  static void callRows(OpBuilder &at, const RowCall &call, ValueRange values, Value low, Value high);

private:
  void emitSumCalls(RowCall &call, ValueRange values);

  SymbolTable &symbols;
  const CPUTarget &target;
  std::deque<RowCode> codes;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_ROWCALLS_H
