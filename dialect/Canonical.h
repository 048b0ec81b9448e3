// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites that the canonical forms of several ops share. None changes a bit of a result. Owns no fold.

#ifndef RESID_DIALECT_CANONICAL_H
#define RESID_DIALECT_CANONICAL_H

#include "dialect/ResidDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::resid {

/// Whether leaving out this gate keeps every bit and every shape check: each element is the constant 1, and no size of
/// the gate constrains a dynamic size of x.
bool isIdentityGate(Value gate, RankedTensorType x);

/// Takes off a dropout clause with T = 0, which is the identity as in DropoutOp::fold. Whether there was one.
template <typename OpTy> bool leaveOutDropout(OpTy op, PatternRewriter &rewriter) {
  if (!op.hasDropout() || op.getThreshold() != 0)
    return false;
  rewriter.modifyOpInPlace(op, [&] { removeDropoutClause(op); });
  return true;
}

/// Replaces a norm whose statistics nobody uses by one without them.
template <typename NormOp> LogicalResult leaveOutStatistics(NormOp op, PatternRewriter &rewriter) {
  size_t kept = op->getNumResults() - op.getStatistics().size();
  if (op.getStatistics().empty() || hasQuantizedResult(op) ||
      !llvm::all_of(op.getStatistics(), [](Value value) { return value.use_empty(); }))
    return rewriter.notifyMatchFailure(op, "there are no statistics, or one is used");
  auto plain =
      NormOp::create(rewriter, op.getLoc(), TypeRange(op->getResultTypes()).take_front(kept),
                     ValueRange(op->getOperands()), op.getProperties(), llvm::to_vector(op->getDiscardableAttrs()));
  SmallVector<Value> replacements(plain->getResults());
  replacements.resize(op->getNumResults());
  rewriter.replaceOp(op, replacements);
  return success();
}

} // namespace mlir::resid

#endif // RESID_DIALECT_CANONICAL_H
