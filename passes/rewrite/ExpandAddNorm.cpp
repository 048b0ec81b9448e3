// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-expand-add-norm: resid.add_norm as the ops it is defined by.

#include "dialect/AddParts.h"
#include "passes/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::resid {
#define GEN_PASS_DEF_EXPANDADDNORM
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// The add of dropout(f + bias), with all clauses.
static Value createSum(OpBuilder &builder, AddNormOp op) {
  Location loc = op.getLoc();
  Value branch = op.getF();
  if (op.getBias())
    branch = AddBiasOp::create(builder, loc, branch.getType(), branch, op.getBias());
  if (op.hasDropout()) {
    DropoutOrigin origin = getDropoutOrigin(op);
    branch = DropoutOp::create(builder, loc, branch.getType(), branch, op.getSeed(), op.getStep(), origin.row,
                               origin.site, origin.col, origin.local, origin.global, op.getPAttr(), op.getSiteAttr());
  }
  return createAdd(builder, loc, op.getSum().getType(), op.getX(), branch, getAddParts(op));
}

namespace {
struct Expand : OpRewritePattern<AddNormOp> {
  Expand(MLIRContext *context, bool report) : OpRewritePattern(context), report(report) {}

  LogicalResult matchAndRewrite(AddNormOp op, PatternRewriter &rewriter) const override {
    if (report)
      op.emitRemark() << "expanded (bit-exact)";
    Value sum = createSum(rewriter, op);
    Operation *norm = createNorm(rewriter, op.getLoc(), op.getNormParts(), sum, op.getNormalized().getType(),
                                 TypeRange(op.getStatistics()));
    SmallVector<Value> results = {norm->getResult(0), sum};
    llvm::append_range(results, norm->getResults().drop_front());
    rewriter.replaceOp(op, results);
    return success();
  }

  bool report;
};

struct ExpandAddNorm : resid::impl::ExpandAddNormBase<ExpandAddNorm> {
  using ExpandAddNormBase::ExpandAddNormBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Expand>(&getContext(), report.getValue());
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) {
      getOperation()->emitError("expected the expansion of resid.add_norm to come to an end, but it did not");
      signalPassFailure();
    }
  }
};
} // namespace
