// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches of a row program that go over the columns once more, such as the statistics of a row whose squares overflow.
// They are long and hardly ever run, so each becomes one function that all functions over the kernel's rows call. Not:
// how a target runs the phases of such a branch.

#ifndef RESID_CODEGEN_ROWS_RAREBRANCHES_H
#define RESID_CODEGEN_ROWS_RAREBRANCHES_H

#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include <functional>
#include <optional>

namespace mlir::resid::rows {

/// One branch of a condition, with what it takes from around it.
struct RareBranch {
  /// One load of each row that is read.
  SmallVector<rows::LoadOp> rows;
  SmallVector<Value> scalars;

  /// Nothing where no phase is in the block, or rows are stored to: those may go past the cache, which the function
  /// over the rows keeps account of.
  static std::optional<RareBranch> find(Block &block);
};

/// Where a rare branch is called from: what its values and the rows that it loads from are there.
struct RareBranchCall {
  const IRMapping &mapping;
  function_ref<Value(rows::LoadOp)> getRowPointer;
  /// The number of columns (i64).
  Value width;
};

/// The function of a rare branch, whose operations a target emits.
struct RareBranchBody {
  Block *entry;
  /// The values from around the branch, the pointers of its rows, and the number of columns.
  IRMapping mapping;
  DenseMap<Value, Value> rowPointers;
  Value width;
};

/// The functions of a kernel's rare branches.
class RareFunctions {
public:
  /// `create` makes an empty function.
  using Create = std::function<func::FuncOp(TypeRange arguments, TypeRange results)>;
  explicit RareFunctions(Create create) : create(std::move(create)) {}

  /// Emits the operations of a branch at the builder's position, its terminator among them.
  using EmitBody = function_ref<void(const RareBranchBody &body)>;
  /// Emits a call in place of the block's operations, and the function where it is not there yet. Does nothing, and
  /// says so, where the block is no rare branch.
  bool emitCall(OpBuilder &builder, Block &block, const RareBranchCall &call, EmitBody emit);

private:
  func::FuncOp emitFunction(OpBuilder &builder, Block &block, RareBranch &branch, const RareBranchCall &call,
                            TypeRange arguments, EmitBody emit);

  Create create;
  DenseMap<Block *, func::FuncOp> functions;
};

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_RAREBRANCHES_H
