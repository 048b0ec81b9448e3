// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which linalg ops are sums down the rows, in the order of SumOrder.h. Not: how their rows are cut (RowPartition.h).

#ifndef RESID_CODEGEN_ROWS_COLUMNSUMS_H
#define RESID_CODEGEN_ROWS_COLUMNSUMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::resid::rows {

/// A linalg.generic on tensors whose outer loops are all reductions, and whose inner loops are the dimensions of each
/// result. Scalar arith and math ops make a term, which is added to an f32 or f64 element. No contraction: not the
/// product of two inputs of which one goes along a loop that the other one does not.
bool isColumnSum(Operation *op);
/// What is added to the result of that number: a scalar of the body.
Value getTerm(linalg::GenericOp sum, unsigned result);

/// Whether no member of a kernel needs a sum down its rows, and no sum is added to what a member makes: else it would
/// have to go through all rows twice.
bool areSumsLast(ArrayRef<Operation *> members);

/// Brings sums over leading dimensions below `root` into the form that isColumnSum asks for. Other ops stay.
LogicalResult normalizeColumnSums(Operation *root);

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_COLUMNSUMS_H
