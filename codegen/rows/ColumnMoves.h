// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands that a row reads at other columns than the one at hand: partners of pairs, and tables with fewer columns.
// Such a move is an expression of the kernel's only column. Not: which operands have one (KernelOp::getMove).

#ifndef RESID_CODEGEN_ROWS_COLUMNMOVES_H
#define RESID_CODEGEN_ROWS_COLUMNMOVES_H

#include "codegen/builder/Code.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/IR/AffineMap.h"

namespace mlir::resid::rows {

/// Whether the map's last result is a move: an expression of the last dimension, and neither this one nor a constant,
/// made of sums, products, and remainders and quotients of what is not negative by positive numbers.
bool hasMove(AffineMap map);
/// The map with the last dimension itself in the place of a move.
AffineMap undoMove(AffineMap map);

/// Where the move leads from a column, known now or at run time (i64).
int64_t moveColumn(AffineExpr move, int64_t column);
Value moveColumn(Code &builder, AffineExpr move, Value column);

/// The most columns, a power of two up to `most`, that move alike: groups of so many that begin at multiples of it, as
/// far as they lie within `width`. Column c + l then leads as far from where c leads as column l does from column 0.
int64_t countMovedAlike(AffineExpr move, int64_t width, int64_t most);

/// Where the columns of a group lead: those from `column` on, or any that move like them.
struct MovedGroup {
  MovedGroup(AffineExpr move, int64_t column, int64_t columns);
  /// Whether each column leads to the place after that of the one before.
  bool isInOrder() const { return llvm::equal(places, llvm::seq<int32_t>(0, places.size())); }
  /// The first place that any of them leads to, counted from where the group's first column does.
  int64_t first;
  /// How many places they span.
  int64_t span;
  /// The place of each column in the span.
  SmallVector<int32_t> places;
};

/// A value of a phase that another operation computes too, at the column at hand, and the move between the two.
struct Twin {
  Value own;
  AffineExpr move;
};

/// Those of a phase's results of operations that are computed at other columns, where their twin stands before them.
DenseMap<Value, Twin> findTwins(PhaseOp phase);

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_COLUMNMOVES_H
