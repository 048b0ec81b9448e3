// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family Fused: an add_norm is its own expansion, made of the other families' formulas.

#include "codegen/linalg/Patterns.h"
#include "dialect/DropoutScheme.h"

using namespace mlir;
using namespace mlir::resid;

/// The branch as it reaches the residual add: bias, then dropout.
static Value lowerBranch(Code &builder, AddNormOp op, AddNormOp::Adaptor adaptor) {
  Value branch = adaptor.getF();
  if (adaptor.getBias())
    branch = lowerAddBias(builder, branch, adaptor.getBias());
  if (!adaptor.getSeed())
    return branch;
  DropoutSite site{adaptor.getSeed(), adaptor.getStep(), getDropoutOrigin(adaptor),
                   static_cast<int64_t>(op.getSite().value_or(0)), getDropoutThreshold(op.getP()->convertToDouble())};
  return lowerDropout(builder, branch, site);
}

namespace {
struct LowerAddNorm : OpConversionPattern<AddNormOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AddNormOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    Value branch = lowerBranch(builder, op, adaptor);
    AddParts parts = getAddParts(op).withOperands(op->getOperands(), adaptor.getOperands());
    Value sum = lowerAdd(builder, adaptor.getX(), branch, parts, op.getSum().getType());
    NormParts norm = op.getNormParts().withOperands(op->getOperands(), adaptor.getOperands());
    norm.x = sum;
    SmallVector<Value> results =
        lowerNorm(builder, norm, op.getNormalized().getType(), /*withStatistics=*/!op.getStatistics().empty());
    results.insert(results.begin() + 1, sum);
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void resid::populateFusedToLinalg(RewritePatternSet &patterns) { patterns.add<LowerAddNorm>(patterns.getContext()); }
