// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of an attention, or of its backward, as its queries see them. Knows no arithmetic.

#ifndef RESID_REFERENCE_ATTENTIONHEADS_H
#define RESID_REFERENCE_ATTENTIONHEADS_H

#include "mlir/IR/Operation.h"
#include "reference/Array.h"
#include "reference/AttentionRow.h"

namespace mlir::resid::reference {

/// The operands of one attention as its queries see them.
struct AttentionHeads {
  int64_t batch = 0, heads = 0, queries = 0, size = 0, keyHeads = 0, keys = 0, valueSize = 0;
  /// Of each sample, or of all of them: how many keys were there before this call. None without a cache.
  SmallVector<int64_t> pasts;
  Array q, k, v, mask, sink, querySegments, keySegments;
  /// How the mask is walked through along batch, heads, queries and keys.
  SmallVector<int64_t> maskStrides;
  bool isCausal = false;
  /// Which keys are near enough to a query: all if it is 0.
  int64_t window = 0;
  double scale = 0.0, cap = 0.0;
  std::optional<DropoutMask> dropout;

  int64_t getRowCount() const { return q.size() / size; }
  /// Rows of the queries, each with the size of a value.
  SmallVector<int64_t> getResultShape() const { return {batch, heads, queries, valueSize}; }
  AttentionRow getRow(int64_t row) const;
  /// Takes sizes from the arrays, and the place of a mask of a type of that shape; what disagrees is diagnosed.
  LogicalResult prepare(Operation *op, ArrayRef<int64_t> maskShape);
};

} // namespace mlir::resid::reference

#endif // RESID_REFERENCE_ATTENTIONHEADS_H
