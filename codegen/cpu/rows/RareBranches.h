// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches of a row program that go over the columns once more, such as the statistics of a row whose squares overflow.
// They are long and hardly ever run, so each becomes one function that all functions over the kernel's rows call. Not:
// how such a function is emitted (VectorRows.h).

#ifndef RESID_CODEGEN_CPU_ROWS_RAREBRANCHES_H
#define RESID_CODEGEN_CPU_ROWS_RAREBRANCHES_H

#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <functional>
#include <optional>

namespace mlir::resid::cpu {

/// One branch of a condition, with what it takes from around it.
struct RareBranch {
  /// One load of each row that is read.
  SmallVector<rows::LoadOp> rows;
  SmallVector<Value> scalars;

  /// Nothing where no phase is in the block, or rows are stored to: those may go past the cache, which the function
  /// over the rows keeps account of.
  static std::optional<RareBranch> find(Block &block);
};

/// The functions of a kernel's branches.
struct RareFunctions {
  /// Makes an empty one.
  std::function<func::FuncOp(TypeRange arguments, TypeRange results)> create;
  DenseMap<Block *, func::FuncOp> functions;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_RAREBRANCHES_H
