// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions over ranges of rows that a kernel is outlined into on a CPU: one that writes rows through the cache,
// and as its plan says one for a row alone and one that writes past the cache; and the calls that run them.

#ifndef RESID_CODEGEN_CPU_ROWS_ROWFUNCTIONS_H
#define RESID_CODEGEN_CPU_ROWS_ROWFUNCTIONS_H

#include "codegen/cpu/choice/KernelPlan.h"
#include "codegen/cpu/rows/RowMemory.h"
#include "codegen/cpu/rows/VectorPrefetches.h"
#include "codegen/kernels/KernelLowering.h"
#include "codegen/kernels/Tasks.h"
#include "codegen/rows/RareBranches.h"

namespace mlir::resid::cpu {

class RowFunctions : public kernels::KernelCode {
public:
  RowFunctions(kernels::KernelUse first, KernelPlan plan, SymbolTable &symbols, const CPUTarget &target);

  bool takeIn(kernels::KernelUse &other) override;
  void emit() override;
  LogicalResult launch(kernels::KernelUse &use) override;

  /// What callRows needs of a kernel, made at the builder's position. `isReadSoon`: by others, before it is called
  /// again.
  SmallVector<Value> makeValues(OpBuilder &builder, kernels::KernelUse &use, bool isReadSoon = false);
  /// Runs the rows [low, high) of a kernel. `values` are those of makeValues, where they are visible, and `first` is
  /// the first row that the task runs.
  void callRows(OpBuilder &at, Location loc, ValueRange values, Value first, Value low, Value high);
  bool hasSums() const { return results != nullptr; }
  /// Makes the results of sums down the rows, before an op, once all rows have run. They are run in order of their
  /// numbers, those of a lane by one thread (rows::RowPartition).
  void emitResultCalls(kernels::KernelUse &use, Operation *before, ValueRange values);

private:
  /// The rows [low, high) through the cache, row 0 alone, the rows [low, high) past the cache; the columns [low, high)
  /// of sums.
  enum class Form { Rows, LoneRow, Stream, Results };

  rows::KernelOp getKernel() { return getFirst().get<rows::KernelOp>(); }
  void warnOfScalarPath(Operation *kernel) const;
  void setAttributes(func::FuncOp function, ArrayRef<StringRef> more = {}) const;
  func::FuncOp outline(const Twine &suffix, Form form);
  void emitRows(Code &builder, kernels::KernelBody &body, Form form);
  void emitSums(Code &builder, kernels::KernelBody &body, Form form);
  void emitVectorRows(Code &builder, kernels::KernelBody &body, Form form);
  std::unique_ptr<RowMemory> createMemory(VectorFunction &function, Form form, Value batchRows);
  PrefetchScope choosePrefetches(Form form) const;
  void callPlain(OpBuilder &at, Location loc, ValueRange values, ValueRange range);
  void launchSums(kernels::KernelUse &use, ValueRange values);

  KernelPlan plan;
  const CPUTarget &target;
  rows::RareFunctions rareFunctions;
  kernels::TaskFunction task, resultTask;
  /// Null where the plan has none. `loneRow` does what `rows` does for row 0 alone, and takes no range. `stream` writes
  /// past the cache. With sums down the rows, the first row of the task comes before a range of rows, and `results`
  /// completes a range of columns.
  func::FuncOp rows, loneRow, stream, results;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_ROWFUNCTIONS_H
