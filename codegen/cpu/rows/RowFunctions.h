// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions over ranges of rows that a kernel is outlined into on a CPU: one that writes rows through the cache,
// and as its plan says one for a row alone and one that writes past the cache. Not: which kernels share them
// (kernels/KernelFunctions.h), nor who calls them with which rows (LowerKernels.cpp).

#ifndef RESID_CODEGEN_CPU_ROWS_ROWFUNCTIONS_H
#define RESID_CODEGEN_CPU_ROWS_ROWFUNCTIONS_H

#include "codegen/cpu/choice/KernelPlan.h"
#include "codegen/cpu/rows/RowMemory.h"
#include "codegen/cpu/rows/VectorPrefetches.h"
#include "codegen/kernels/KernelFunctions.h"
#include "codegen/kernels/RareBranches.h"

namespace mlir::resid::cpu {

class RowFunctions {
public:
  RowFunctions(kernels::KernelUse first, KernelPlan plan, SymbolTable &symbols, const CPUTarget &target);

  /// Whether the code of `other`, which is run by `otherPlan`, is the same. Before outline().
  bool takeIn(kernels::KernelUse &other, const KernelPlan &otherPlan);
  /// Makes the functions.
  void outline();

  kernels::KernelFunctions &getShared() { return shared; }
  const KernelPlan &getPlan() const { return plan; }
  func::FuncOp getRows() const { return rowFunction; }
  /// What does the same for row 0 alone and takes no range; where the plan has a lone row.
  func::FuncOp getLoneRow() const { return loneRowFunction; }
  /// What completes sums down the rows, for a range of columns; null where there are none. The range of getRows() is
  /// one of lanes then.
  func::FuncOp getResults() const { return resultFunction; }
  /// What writes rows past the cache; where the plan streams. Its range is that of getRows().
  func::FuncOp getStream() const { return streamFunction; }

private:
  /// The rows [low, high) through the cache (with sums down the rows, the lanes), row 0 alone, the rows [low, high)
  /// past the cache (with sums, the lanes); the columns [low, high) of sums.
  enum class Form { Rows, LoneRow, Stream, Results };

  void setAttributes(func::FuncOp function, ArrayRef<StringRef> more = {}) const;
  func::FuncOp outline(const Twine &suffix, Form form);
  void emitRows(OpBuilder &builder, kernels::KernelBody &body, Form form);
  void emitSums(OpBuilder &builder, kernels::KernelBody &body, Form form);
  void emitVectorRows(OpBuilder &builder, kernels::KernelBody &body, Form form);
  std::unique_ptr<RowMemory> createMemory(VectorFunction &function, Form form, Value batchRows);
  PrefetchScope choosePrefetches(Form form) const;

  kernels::KernelFunctions shared;
  KernelPlan plan;
  const CPUTarget &target;
  kernels::RareFunctions rareFunctions;
  func::FuncOp rowFunction, loneRowFunction, streamFunction, resultFunction;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_ROWFUNCTIONS_H
