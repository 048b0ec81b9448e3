// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which row-wise ops of a block share a kernel, and the order of ops that makes each group contiguous. Does not own
// what the kernel looks like, nor how large it may be (GroupLimits).

#ifndef RESID_CODEGEN_ROWS_ROWGROUPS_H
#define RESID_CODEGEN_ROWS_ROWGROUPS_H

#include "codegen/rows/RowAccess.h"

namespace mlir::resid::rows {

/// Why an op is not in the kernel of another one, which makes a tensor that it reads or reads one that it reads too.
struct GroupRefusal {
  Location op, other;
  std::string reason; ///< lower case, no full stop
};

/// Ops that become one kernel, in block order.
struct RowGroup {
  RowSpace space;
  /// Whether a member says how many dimensions are columns; otherwise `space.columns` is a default.
  bool columnsFixed = false;
  SmallVector<Operation *> members;
  /// The members that work on one element per row (their loops are the rows).
  DenseSet<Operation *> rowLevel;
  /// Of members.
  SmallVector<GroupRefusal> refusals;

  /// The map from the group's space to a member's loops.
  AffineMap getDomain(Operation *member) const;
};

/// Groups the row-wise ops of a block and reorders the block so that each group is contiguous. Side effects keep their
/// order. Groups come in block order.
SmallVector<RowGroup> groupRowWiseOps(Block &block);

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_ROWGROUPS_H
