// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-expand-blocks: resid.block as flat ops, by the rule of its placement.

#include "dialect/Placement.h"
#include "passes/Passes.h"
#include "passes/stream/NormParts.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::resid {
#define GEN_PASS_DEF_EXPANDBLOCKS
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// The norm of `value` if the block has one at `position`, else `value`.
static Value normalizeAt(OpBuilder &builder, BlockOp op, NormPosition position, Value value, Type type) {
  ArrayRef<NormPosition> positions = getPlacementRule(op.getPlacement()).positions;
  for (auto [norm, place] : llvm::zip_equal(getBlockNorms(op), positions))
    if (place == position)
      return createNorm(builder, op.getLoc(), norm, value, type)->getResult(0);
  return value;
}

/// Moves the branch before the block, fed with `input`, and returns what it yields.
static Value inlineBranch(PatternRewriter &rewriter, BlockOp op, Value input) {
  Block *branch = &op.getBranch().front();
  auto yield = cast<YieldOp>(branch->getTerminator());
  rewriter.inlineBlockBefore(branch, op, input);
  Value output = yield.getBranch();
  rewriter.eraseOp(yield);
  rewriter.setInsertionPoint(op);
  return output;
}

/// a·stream + branch_scale·(gate ⊙ dropout(branch))
static Value addBranch(OpBuilder &builder, BlockOp op, Value stream, Value branch) {
  Location loc = op.getLoc();
  if (op.hasDropout()) {
    DropoutOrigin origin = getDropoutOrigin(op);
    branch = DropoutOp::create(builder, loc, branch.getType(), branch, op.getSeed(), op.getStep(), origin.row,
                               origin.site, origin.col, origin.local, origin.global, op.getPAttr(), op.getSiteAttr());
  }
  return AddOp::create(builder, loc, stream.getType(), stream, branch, op.getGate(), op.getSkipScaleAttr(),
                       op.getBranchScaleAttr());
}

namespace {
struct ExpandBlock : OpRewritePattern<BlockOp> {
  ExpandBlock(MLIRContext *context, bool report) : OpRewritePattern(context), report(report) {}

  LogicalResult matchAndRewrite(BlockOp op, PatternRewriter &rewriter) const override {
    if (report)
      op.emitRemark() << "expanded (bit-exact): " << stringifyPlacement(op.getPlacement());
    Type type = op.getX().getType();
    Type inputType = op.getBranch().getArgument(0).getType();
    Value stream = normalizeAt(rewriter, op, NormPosition::BeforeSubLayer, op.getX(), type);
    Value input = normalizeAt(rewriter, op, NormPosition::BeforeBranch, stream, inputType);
    Value output = inlineBranch(rewriter, op, input);
    Value branch = normalizeAt(rewriter, op, NormPosition::AfterBranch, output, type);
    Value sum = addBranch(rewriter, op, stream, branch);
    rewriter.replaceOp(op, normalizeAt(rewriter, op, NormPosition::AfterAdd, sum, type));
    return success();
  }

  bool report;
};

struct ExpandBlocks : resid::impl::ExpandBlocksBase<ExpandBlocks> {
  using ExpandBlocksBase::ExpandBlocksBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandBlock>(&getContext(), report.getValue());
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal(true).enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) {
      getOperation()->emitError("expected the expansion of resid.block to come to an end, but it did not");
      signalPassFailure();
    }
  }
};
} // namespace
