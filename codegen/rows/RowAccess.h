// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a row-wise op on tensors reads and writes, element by element. Owns the question whether an op is row-wise at
// all; does not own which ops share a kernel (RowGroups) or when a value is computed (RowProgram).

#ifndef RESID_CODEGEN_ROWS_ROWACCESS_H
#define RESID_CODEGEN_ROWS_ROWACCESS_H

#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineMap.h"
#include <optional>

namespace mlir::resid::rows {

/// An element of `tensor` as seen from an iteration space: the map leads from the space's dimensions to the tensor's.
struct Access {
  Value tensor;
  AffineMap map;
  bool operator==(const Access &other) const { return tensor == other.tensor && map == other.map; }
};

/// The dimensions that a kernel runs over: rows, then columns. Unknown sizes are dynamic.
struct RowSpace {
  SmallVector<int64_t> shape;
  unsigned columns = 1;

  unsigned getRank() const { return shape.size(); }
  unsigned getNumRows() const { return shape.size() - columns; }
  /// The map to all dimensions, to the row dimensions, and to the column dimensions.
  AffineMap getIdentity(MLIRContext *context) const;
  AffineMap getRows(MLIRContext *context) const;
  AffineMap getColumns(MLIRContext *context) const;
  /// Whether the map uses the columns all, last and in order, or not at all; all other results are rows or 0. A move
  /// (ColumnMoves.h) may stand in the place of the only column, where the size is known.
  bool fits(AffineMap map) const;
  bool usesColumns(AffineMap map) const;
};

/// Whether the op reduces rows (StatisticsOpInterface); null is none.
bool isStatistics(Operation *op);

/// Whether the op makes the elements of a tensor that is never in memory, from the places of rows and columns: random
/// numbers and the numbers of columns. Null makes none.
bool isGenerated(Operation *op);

/// Whether the op's body is scalar arith and math ops on one element of each operand, which is a tensor.
bool isScalarProgram(linalg::GenericOp op);

/// A linalg.generic on tensors that computes each element of its results from one element of each operand by scalar
/// arith and math ops. It may read operands at other columns (ColumnMoves.h).
bool isElementwise(Operation *op);

/// Elementwise, statistics or a sum down the rows (ColumnSums.h): what a kernel is made of.
bool isRowWise(Operation *op);

/// The loop sizes of a row-wise op.
SmallVector<int64_t> getLoopShape(Operation *op);

/// What a row-wise op reads, in terms of its loops; an init only where its old value is used for more than to add to
/// it.
SmallVector<Access> getReads(Operation *op);

/// Whether the access is computed in place, from scalars or parameters, instead of being read from a tensor: what
/// ops generate, splats, and cheap elementwise ops on less than a row per row (a cast of gamma).
bool isInlined(const Access &access);

/// Calls `visit` once for each tensor that has to be read for `access`, and each map it is read with, seen through
/// inlined producers. What ops generate is visited like tensors.
void visitLeaves(const Access &access, function_ref<void(const Access &)> visit);

/// Whether computing the elementwise op again costs more than reading its value back.
bool isExpensive(Operation *op);

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_ROWACCESS_H
