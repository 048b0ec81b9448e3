// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-inference: the program without dropout.

#include "dialect/DropoutScheme.h"
#include "dialect/ResidDialect.h"
#include "passes/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::resid {
#define GEN_PASS_DEF_INFERENCE
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

namespace {
struct RemoveDropout : OpRewritePattern<DropoutOp> {
  RemoveDropout(MLIRContext *context, bool report) : OpRewritePattern(context), report(report) {}

  LogicalResult matchAndRewrite(DropoutOp op, PatternRewriter &rewriter) const override {
    if (report)
      op.emitRemark() << "removed dropout (changes the function)";
    rewriter.replaceOp(op, op.getX());
    return success();
  }

  bool report;
};

template <typename OpTy> struct RemoveDropoutClause : OpRewritePattern<OpTy> {
  RemoveDropoutClause(MLIRContext *context, bool report) : OpRewritePattern<OpTy>(context), report(report) {}

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!op.hasDropout())
      return rewriter.notifyMatchFailure(op, "expected a dropout clause");
    if (report)
      op.emitRemark() << "removed dropout (changes the function)";
    rewriter.modifyOpInPlace(op, [&] { removeDropoutClause(op); });
    return success();
  }

  bool report;
};

struct Inference : resid::impl::InferenceBase<Inference> {
  using InferenceBase::InferenceBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RemoveDropout, RemoveDropoutClause<AddNormOp>, RemoveDropoutClause<AttentionOp>,
                 RemoveDropoutClause<BlockOp>>(&getContext(), report.getValue());
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) {
      getOperation()->emitError("expected the removal of dropout to come to an end, but it did not");
      signalPassFailure();
    }
  }
};
} // namespace
