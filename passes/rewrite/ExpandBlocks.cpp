// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-expand-blocks: resid.block as flat ops, by the rule of its placement.

#include "dialect/AddParts.h"
#include "dialect/Placement.h"
#include "dialect/Shapes.h"
#include "passes/Passes.h"
#include "passes/stream/NormParts.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::resid {
#define GEN_PASS_DEF_EXPANDBLOCKS
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// The norm of the row `value` if the block has one at `position`, else `value`.
static Value normalizeAt(OpBuilder &builder, BlockOp op, NormPosition position, Value value, Type type) {
  std::optional<NormParts> norm = getNormAt(op, position);
  return norm ? createNorm(builder, op.getLoc(), *norm, value, type)->getResult(0) : value;
}

/// The same of the stream itself. Where there are several, no norm stands there.
static Value normalizeStreamAt(OpBuilder &builder, BlockOp op, NormPosition position, Value value) {
  if (!op.getStreams())
    return normalizeAt(builder, op, position, value, value.getType());
  if (!getNormAt(op, position))
    return value;
  Value row = dropStream(builder, op.getLoc(), value);
  return addStream(builder, op.getLoc(), normalizeAt(builder, op, position, row, row.getType()));
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

static Value dropOut(OpBuilder &builder, BlockOp op, Value branch) {
  if (!op.hasDropout())
    return branch;
  DropoutOrigin origin = getDropoutOrigin(op);
  return DropoutOp::create(builder, op.getLoc(), branch.getType(), branch, op.getSeed(), op.getStep(), origin.row,
                           origin.site, origin.col, origin.local, origin.global, op.getPAttr(), op.getSiteAttr());
}

/// branch_scale·(gate ⊙ branch), rounded once: a read of one stream.
static Value scaleRow(OpBuilder &builder, BlockOp op, Value branch) {
  Location loc = op.getLoc();
  Value gate = op.getGate();
  if (!gate && op.getBranchScale().isExactlyValue(1.0))
    return branch;
  if (gate && cast<RankedTensorType>(gate.getType()).getRank() == 0)
    gate = tensor::ExpandShapeOp::create(builder, loc, RankedTensorType::get({1}, getElementTypeOrSelf(gate)), gate,
                                         ArrayRef<ReassociationIndices>());
  return ReadOp::create(builder, loc, branch.getType(), addStream(builder, loc, branch), addStream(builder, loc, gate),
                        op.getBranchScaleAttr());
}

/// What the branch reads, and what it is written to: x, or one row of several streams.
static Value readRow(OpBuilder &builder, BlockOp op, Value stream) {
  if (!op.getStreams())
    return stream;
  return ReadOp::create(builder, op.getLoc(), op.getRowType(), stream, op.getReadWeights(), op.getReadScaleAttr());
}

/// The add of dropout(branch), with all clauses, or what several streams become by that branch.
static Value addBranch(OpBuilder &builder, BlockOp op, Value stream, Value branch) {
  branch = dropOut(builder, op, branch);
  if (op.getStreams())
    return WriteOp::create(builder, op.getLoc(), stream.getType(), stream, scaleRow(builder, op, branch),
                           op.getWriteWeights(), op.getMix(), /*transposed=*/UnitAttr());
  return createAdd(builder, op.getLoc(), stream.getType(), stream, branch, getAddParts(op));
}

namespace {
struct ExpandBlock : OpRewritePattern<BlockOp> {
  ExpandBlock(MLIRContext *context, bool report) : OpRewritePattern(context), report(report) {}

  LogicalResult matchAndRewrite(BlockOp op, PatternRewriter &rewriter) const override {
    if (report)
      op.emitRemark() << "expanded (bit-exact): " << stringifyPlacement(op.getPlacement());
    Type inputType = op.getBranch().getArgument(0).getType();
    Value stream = normalizeStreamAt(rewriter, op, NormPosition::BeforeSubLayer, op.getX());
    Value row = readRow(rewriter, op, stream);
    Value input = normalizeAt(rewriter, op, NormPosition::BeforeBranch, row, inputType);
    Value output = inlineBranch(rewriter, op, input);
    Value branch = normalizeAt(rewriter, op, NormPosition::AfterBranch, output, op.getRowType());
    Value sum = addBranch(rewriter, op, stream, branch);
    rewriter.replaceOp(op, normalizeStreamAt(rewriter, op, NormPosition::AfterAdd, sum));
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
