// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which memory operations touch, and whether kernels do so row by row. Not: what may be run by blocks of rows because
// of that (FormRowBlocks.cpp).

#ifndef RESID_CODEGEN_BLOCKS_ROWACCESSES_H
#define RESID_CODEGEN_BLOCKS_ROWACCESSES_H

#include "codegen/contractions/ContractionDialect.h"

namespace mlir::resid::blocks {

struct BufferAccess {
  /// Whole rows, where the access is to a part of each.
  Value buffer;
  bool isWrite = false;
  /// How many of the buffer's leading dimensions number the rows, if work on a row of the kernel touches that row
  /// alone.
  std::optional<unsigned> rowDimensions = {};
};

/// What an op touches; nothing where that is not known.
using BufferAccesses = std::optional<SmallVector<BufferAccess>>;

/// Of a contraction.kernel or rows.kernel on buffers. Work on a row of a product is work on all columns of its result,
/// and rows are numbered by its other parallel loops. `rowLoops` is how many leading loops number the rows of a
/// rows.kernel, all if not given; what is inside of them is work on one row.
SmallVector<BufferAccess> getKernelAccesses(Operation *kernel, std::optional<unsigned> rowLoops = {});
BufferAccesses getAccesses(Operation *op);

/// Whether a product has rows: one factor knows each of its parallel loops but the last, the other that one alone.
bool hasRows(contraction::KernelOp product);

/// Whether a product has few columns, or few terms, next to rows of any length: it then takes little longer than to
/// read and write these.
bool isThin(contraction::KernelOp product);

/// Whether one op reads what another writes.
bool isReadBy(ArrayRef<BufferAccess> written, ArrayRef<BufferAccess> read);
/// The bytes of one row of an access that has rows, where they are known and rows lie one after the other.
std::optional<int64_t> countRowBytes(const BufferAccess &access);
/// Whether it makes no difference which of two accesses comes first.
bool mayBeSwapped(const BufferAccess &a, const BufferAccess &b);
/// Whether the two touch the same elements for the same row, or need not be in order at all.
bool agreeOnRows(const BufferAccess &a, const BufferAccess &b);

} // namespace mlir::resid::blocks

#endif // RESID_CODEGEN_BLOCKS_ROWACCESSES_H
