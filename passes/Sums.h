// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What resid.add and resid.add_norm have in common as sums of a stream and a branch.

#ifndef RESID_PASSES_SUMS_H
#define RESID_PASSES_SUMS_H

namespace mlir::resid {

/// In y = x + f, and only there, the operands may change places without changing a bit.
template <typename SumOp> bool commutes(SumOp op) {
  return !op.getGate() && op.getSkipScale().isExactlyValue(1.0) && op.getBranchScale().isExactlyValue(1.0);
}

} // namespace mlir::resid

#endif // RESID_PASSES_SUMS_H
