// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions over ranges of rows that kernels are outlined into, and which kernels share them: the equal layers of a
// model are compiled once. Not: who calls them, with which rows (LowerKernels.cpp).

#ifndef RESID_CODEGEN_CPU_ROWS_ROWFUNCTIONS_H
#define RESID_CODEGEN_CPU_ROWS_ROWFUNCTIONS_H

#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/cpu/choice/KernelPlan.h"
#include "codegen/cpu/rows/RareBranches.h"
#include "codegen/kernels/RowAddressing.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SmallSet.h"

namespace mlir::resid::cpu {

/// A kernel where it stands, with what its code needs of the function around it.
struct KernelUse {
  rows::KernelOp kernel;
  func::FuncOp enclosing;
  kernels::KernelAddresses addresses;
  KernelPlan plan;
  /// The scalars from above, one entry per use, in an order that equal kernels share.
  SmallVector<Value> outerValues;

  /// Emits what computes addresses before the kernel, and says so where it has to take the scalar path.
  static FailureOr<KernelUse> prepare(rows::KernelOp kernel, const CPUTarget &target);
};

/// The code of one kernel, or of several that are equal but for the numbers of their dropout sites, which are arguments
/// then. Everything else that is constant stays constant.
class RowFunctions {
public:
  RowFunctions(KernelUse first, SymbolTable &symbols, const CPUTarget &target)
      : first(std::move(first)), symbols(symbols), target(target) {}

  /// Whether the code of `other` is the same, which then may call these functions. Before outline().
  bool takeIn(KernelUse &other);
  /// Makes the functions.
  void outline();
  /// What a kernel that was taken in (or the first) passes ahead of the range of rows; made at the builder's position.
  SmallVector<Value> getArguments(OpBuilder &builder, KernelUse &use) const;

  func::FuncOp getRows() const { return rowFunction; }
  /// What does the same for row 0 alone and takes no range; null where that has no code of its own.
  func::FuncOp getLoneRow() const { return loneRowFunction; }
  /// Where rows may be written past the cache: what writes them so, and how.
  func::FuncOp getStream() const { return streamFunction; }
  const std::optional<StreamedRows> &getStreamedRows() const { return first.plan.streamed; }
  /// An empty private function, named after the first kernel's and placed before it.
  func::FuncOp createFunction(const Twine &suffix, TypeRange argumentTypes, TypeRange resultTypes = {});

  /// Runs one task of the rows, for parallel_for; made by the caller where it is first needed.
  func::FuncOp taskFunction;

private:
  struct Parameter {
    Value value;       // of the first kernel
    unsigned position; // of its first use, in outerValues
    bool isConstant;   // made again in the functions, and no argument
  };

  /// The rows [low, high) through the cache, row 0 alone, the rows [low, high) past the cache.
  enum class Form { Rows, LoneRow, Stream };

  SmallVector<Parameter> collectParameters() const;
  void setAttributes(func::FuncOp function, ArrayRef<StringRef> more = {}) const;
  func::FuncOp outline(const Twine &suffix, ArrayRef<Parameter> parameters, Form form);
  void emitRows(OpBuilder &builder, Block *entry, const kernels::KernelAddresses &addresses, const IRMapping &mapping,
                Form form);

  KernelUse first;
  SymbolTable &symbols;
  const CPUTarget &target;
  /// Positions of constants that differ between the kernels.
  llvm::SmallSet<unsigned, 4> differing;
  SmallVector<Parameter> arguments;
  RareFunctions rareFunctions;
  func::FuncOp rowFunction, loneRowFunction, streamFunction;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_ROWFUNCTIONS_H
