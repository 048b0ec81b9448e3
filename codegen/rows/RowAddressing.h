// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the elements of a kernel's operands lie: pointers and strides per row. Not: the loops that use them.

#ifndef RESID_CODEGEN_ROWS_ROWADDRESSING_H
#define RESID_CODEGEN_ROWS_ROWADDRESSING_H

#include "codegen/kernels/Extent.h"
#include "codegen/kernels/KernelOpInterface.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::resid::rows {

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
struct KernelAddresses : kernels::KernelIndexing {
  SmallVector<OperandAddress> operands;
  SmallVector<Value> rowDims;
  Value rows;
  Value width;
  /// Memory for sums down the rows (rows::SumMemory); null where there are none. Their code needs `rows` too.
  Value scratch;

  /// Whether a linear row index must be taken apart into the row dimensions.
  bool needsRowIndices() const;

  std::shared_ptr<KernelIndexing> clone() const override { return std::make_shared<KernelAddresses>(*this); }
  void forEachValue(function_ref<void(Value &)> visit) override;
  ArrayAttr getFacts() const override { return facts; }
  /// The number of a dropout site alone may differ.
  kernels::ConstantUse getConstantUse(Value constant, bool isOuter) const override;
  /// Rows, and their columns.
  kernels::KernelWork countWork(OpBuilder &builder, Location loc) const override { return {rows, width}; }

  /// The attributes and types of the kernel, and how rows are found: that may hang on buffers beside their types.
  ArrayAttr facts;
};

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_ROWADDRESSING_H
