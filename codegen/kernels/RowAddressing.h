// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the elements of a kernel's operands lie: pointers and strides per row. Not: the loops that use them.

#ifndef RESID_CODEGEN_KERNELS_ROWADDRESSING_H
#define RESID_CODEGEN_KERNELS_ROWADDRESSING_H

#include "codegen/rows/RowsDialect.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::resid::kernels {

/// One operand. Its row starts at pointer + Σ index of the row dimension · stride (in elements, i64) and is contiguous.
struct OperandAddress {
  Value pointer;
  Type elementType;
  /// Set where the rows of all row dimensions lie evenly apart: the row starts at pointer + linear row index ·
  /// linearStride.
  Value linearStride;
  /// Otherwise the row dimensions that move the row, with their strides; empty for an operand shared by all rows.
  SmallVector<std::pair<unsigned, Value>> strides;
};

/// All operands of one kernel and its shape; values are i64 or pointers.
struct KernelAddresses {
  SmallVector<OperandAddress> operands;
  SmallVector<Value> rowDims;
  Value rows;
  Value width;
  /// Memory for sums down the rows (rows::SumMemory); null where there are none. Their code needs `rows` too.
  Value scratch;

  /// Whether a linear row index must be taken apart into the row dimensions.
  bool needsRowIndices() const;
  /// Calls `visit` on each value that the row loops need.
  void forEachValue(function_ref<void(Value &)> visit);
};

/// Emits what reads pointers and strides from the memrefs before `kernel`.
FailureOr<KernelAddresses> computeKernelAddresses(OpBuilder &builder, rows::KernelOp kernel);

/// `value` as i64, whatever integer or index it is.
Value castToI64(OpBuilder &builder, Location loc, Value value);
/// An i64 constant.
Value constantI64(OpBuilder &builder, Location loc, int64_t value);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_ROWADDRESSING_H
