// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How values are reduced along a row, on scalars or vectors: what each step does, and what changes nothing. Not: in
// which order (rows/SumOrder.h), nor where a target holds lanes.

#ifndef RESID_CODEGEN_ROWS_REDUCTIONS_H
#define RESID_CODEGEN_ROWS_REDUCTIONS_H

#include "codegen/rows/RowsDialect.h"

namespace mlir::resid::rows {

/// How partial results are added up, once squares have been taken.
rows::ReductionKind getCombiningKind(rows::ReductionKind kind);
/// `accumulator` with one more value taken in, on scalars or vectors.
Value combine(OpBuilder &builder, rows::ReductionKind kind, Value accumulator, Value value);
/// What changes no bit of a reduction: lanes begin with it, and absent columns have it.
Value createNeutral(OpBuilder &builder, Location loc, rows::ReductionKind kind, Type type);
/// The bits of floats, single or in a vector, as integers.
Value toBits(OpBuilder &builder, Location loc, Value value);

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_REDUCTIONS_H
