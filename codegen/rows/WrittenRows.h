// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rows a row program writes along its columns, and what later phases read of them again. Not: where a target
// keeps what is read again.

#ifndef RESID_CODEGEN_ROWS_WRITTENROWS_H
#define RESID_CODEGEN_ROWS_WRITTENROWS_H

#include "codegen/rows/RowsDialect.h"

namespace mlir::resid::rows {

/// A row of an output that has a column for each of the kernel's.
struct WrittenRow {
  /// Position of the output in the kernel's inputs followed by its outputs.
  unsigned operand = 0;
  BlockArgument row;
  /// The store that no other one to this row follows; null where nothing is stored.
  StoreOp last;
  /// The stores of which a later phase reads what they wrote.
  SmallVector<StoreOp> readLater;
  /// Whether anything is read from the row.
  bool isRead = false;
  /// Whether all stores are in phases that every row goes through.
  bool isAlways = true;
};

/// In the order of the outputs.
SmallVector<WrittenRow> findWrittenRows(KernelOp kernel);

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_WRITTENROWS_H
