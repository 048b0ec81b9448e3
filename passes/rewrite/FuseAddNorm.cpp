// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-fuse-add-norm: rewrites the chains that AddNormChain finds. What is a chain, and why, stands there.

#include "dialect/AddParts.h"
#include "passes/Passes.h"
#include "passes/stream/AddNormChain.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::resid {
#define GEN_PASS_DEF_FUSEADDNORM
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// The ops of the chain in the order in which they run.
static SmallVector<Operation *> getOps(const AddNormChain &chain) {
  SmallVector<Operation *> ops = {chain.bias, chain.dropout, chain.add, chain.norm};
  llvm::erase(ops, nullptr);
  return ops;
}

static std::string getFusedNames(const AddNormChain &chain) {
  std::string names;
  for (Operation *op : getOps(chain))
    names += (names.empty() ? "" : ", ") + op->getName().getStringRef().str();
  return names;
}

static Location getFusedLocation(const AddNormChain &chain) {
  SmallVector<Location> locations;
  for (Operation *op : getOps(chain))
    locations.push_back(op->getLoc());
  return FusedLoc::get(chain.norm->getContext(), locations);
}

/// Makes the fused op before `chain.place`; the chain itself stays.
static AddNormOp createAddNorm(OpBuilder &builder, AddNormChain &chain) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(chain.place);
  DropoutOp dropout = chain.dropout;
  DropoutOrigin origin = dropout ? getDropoutOrigin(dropout) : DropoutOrigin();
  const NormParts &parts = chain.parts;
  AddParts add = getAddParts(chain.add);
  auto unit = [&](bool set) { return set ? builder.getUnitAttr() : UnitAttr(); };
  return AddNormOp::create(
      builder, getFusedLocation(chain), chain.norm->getResult(0).getType(), chain.add.getType(),
      TypeRange(chain.norm->getResultTypes()).drop_front(), NormKindAttr::get(builder.getContext(), parts.kind),
      chain.skip, chain.branch, chain.bias ? chain.bias.getBias() : Value(), dropout ? dropout.getSeed() : Value(),
      dropout ? dropout.getStep() : Value(), origin.row, origin.site, origin.col, origin.local, origin.global, add.gate,
      add.skip, add.also, add.alsoScale, parts.alpha, parts.gamma, parts.beta, /*static_scale=*/Value(), parts.epsilon,
      dropout ? dropout.getPAttr() : FloatAttr(), dropout ? dropout.getSiteAttr() : IntegerAttr(), add.skipScale,
      add.branchScale, parts.normRank, parts.groups, unit(parts.zeroCenteredGamma), unit(parts.narrowAffine),
      GranularityAttr(), /*group=*/IntegerAttr());
}

namespace {
struct FuseNorm : OpInterfaceRewritePattern<NormOpInterface> {
  FuseNorm(MLIRContext *context, bool report) : OpInterfaceRewritePattern(context), report(report) {}

  LogicalResult matchAndRewrite(NormOpInterface norm, PatternRewriter &rewriter) const override {
    SmallVector<FusionRefusal> refusals;
    std::optional<AddNormChain> chain = findAddNormChain(norm, refusals);
    if (!chain)
      return rewriter.notifyMatchFailure(norm.getOperation(),
                                         Twine(refusals.empty() ? StringRef("expected a norm that reads a residual sum")
                                                                : StringRef(refusals.front().reason)));
    if (report)
      norm->emitRemark() << "fused into resid.add_norm (bit-exact): " << getFusedNames(*chain);
    AddNormOp fused = createAddNorm(rewriter, *chain);
    SmallVector<Value> normResults = {fused.getNormalized()};
    llvm::append_range(normResults, fused.getStatistics());
    rewriter.replaceOp(norm, normResults);
    rewriter.replaceOp(chain->add, fused.getSum());
    if (chain->dropout)
      rewriter.eraseOp(chain->dropout);
    if (chain->bias)
      rewriter.eraseOp(chain->bias);
    return success();
  }

  bool report;
};

struct FuseAddNorm : resid::impl::FuseAddNormBase<FuseAddNorm> {
  using FuseAddNormBase::FuseAddNormBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseNorm>(&getContext(), report.getValue());
    // Fusion alone: what else could be simplified is the canonicalizer's. Top-down, so that the first norm of a sum is
    // fused.
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal(true).enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) {
      getOperation()->emitError("expected fusion of add and norm to come to an end, but it did not");
      return signalPassFailure();
    }
    if (report)
      emitFusionRefusals(collectFusionRefusals(getOperation()));
  }
};
} // namespace
