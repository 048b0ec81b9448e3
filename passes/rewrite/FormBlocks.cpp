// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-form-blocks: makes a resid.block of each sub-layer that SubLayer finds. What is a sub-layer, and why, stands
// there.

#include "dialect/AddParts.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/stream/NormParts.h"
#include "passes/stream/SubLayer.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::resid {
#define GEN_PASS_DEF_FORMBLOCKS
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// The placement whose norms stand where those of `layer` do.
static Placement getPlacement(const SubLayer &layer) {
  for (uint32_t i = 0; i <= getMaxEnumValForPlacement(); ++i) {
    const PlacementRule &rule = getPlacementRule(static_cast<Placement>(i));
    size_t found = llvm::count_if(rule.positions, [&](NormPosition position) { return layer.getNorm(position); });
    size_t norms = llvm::count_if(layer.norms, [](Operation *norm) { return norm; });
    if (found == rule.positions.size() && found == norms)
      return rule.placement;
  }
  llvm_unreachable("a sub-layer with norms of no placement");
}

namespace {
/// The norms of a block as its clauses state them.
struct NormClauses {
  SmallVector<Attribute> attributes;
  SmallVector<Value> parameters;
  bool narrowAffine = false;
};
} // namespace

static NormClauses getNormClauses(Builder &builder, const SubLayer &layer, Placement placement) {
  NormClauses clauses;
  for (NormPosition position : getPlacementRule(placement).positions) {
    NormParts parts = *getNormParts(layer.getNorm(position));
    clauses.attributes.push_back(getNormAttr(builder.getContext(), parts));
    llvm::append_range(clauses.parameters, parts.getParameters());
    clauses.narrowAffine |= parts.narrowAffine;
  }
  return clauses;
}

/// Makes the block after the sub-layer, with an empty region; the sub-layer stays.
static BlockOp createBlock(RewriterBase &rewriter, const SubLayer &layer, Value stream) {
  rewriter.setInsertionPointAfter(layer.getLast());
  Placement placement = getPlacement(layer);
  NormClauses norms = getNormClauses(rewriter, layer, placement);
  FloatAttr one = rewriter.getF64FloatAttr(1.0);
  AddParts add = layer.add ? getAddParts(AddOp(layer.add)) : AddParts{{}, {}, {}, {}, one, one};
  ReadOp read = layer.read;
  WriteOp write = layer.write;
  DropoutOp dropout = layer.dropout;
  DropoutOrigin origin = dropout ? getDropoutOrigin(dropout) : DropoutOrigin();
  auto flag = [&](bool isSet) { return isSet ? rewriter.getUnitAttr() : UnitAttr(); };
  return BlockOp::create(
      rewriter, layer.getSumOp()->getLoc(), layer.getSum().getType(), /*scale=*/Type(),
      PlacementAttr::get(rewriter.getContext(), placement), stream, norms.parameters,
      dropout ? dropout.getSeed() : Value(), dropout ? dropout.getStep() : Value(), origin.row, origin.site, origin.col,
      origin.local, origin.global, add.gate, add.skip, add.also, add.alsoScale, read ? read.getWeights() : Value(),
      write ? write.getWeights() : Value(), write ? write.getMix() : Value(), /*static_scale=*/Value(),
      rewriter.getArrayAttr(norms.attributes), dropout ? dropout.getPAttr() : FloatAttr(),
      dropout ? dropout.getSiteAttr() : IntegerAttr(), add.skipScale, add.branchScale, flag(norms.narrowAffine),
      flag(static_cast<bool>(write)), read ? read.getScaleAttr() : one, GranularityAttr(), /*group=*/IntegerAttr());
}

/// Moves the branch into the region of `block`, where its input becomes the region's argument.
static void moveBranch(RewriterBase &rewriter, const SubLayer &layer, BlockOp block) {
  Value input = layer.getBranchInput(), output = layer.getBranchOutput(), skip = layer.getSkip();
  SmallVector<Operation *> ops = layer.getBranchOps();
  Block *body = rewriter.createBlock(&block.getBranch(), {}, input.getType(), layer.getBranch().getLoc());
  for (Operation *op : ops)
    rewriter.moveOpBefore(op, body, body->end());
  rewriter.setInsertionPointToEnd(body);
  YieldOp::create(rewriter, block.getLoc(), output);
  // Beside a norm of the stream, the branch reads the stream's sizes at most, which the argument has too.
  bool keepsType = skip.getType() == input.getType();
  for (Value value : {input, skip})
    rewriter.replaceUsesWithIf(value, body->getArgument(0), [&](OpOperand &use) {
      return block.getBranch().isAncestor(use.getOwner()->getParentRegion()) &&
             (value == input || keepsType || isa<tensor::DimOp>(use.getOwner()));
    });
}

/// Ops outside that ask for the sizes of a value inside ask the stream instead, which has the same.
static void redirectSizes(RewriterBase &rewriter, Value value, Value stream) {
  rewriter.replaceUsesWithIf(value, stream, [](OpOperand &use) { return isa<tensor::DimOp>(use.getOwner()); });
}

static void formBlock(RewriterBase &rewriter, SubLayer &layer) {
  Operation *head = layer.getNorm(NormPosition::BeforeSubLayer);
  Value stream = layer.write ? WriteOp(layer.write).getX() : head ? getNormParts(head)->x : layer.getSkip();
  BlockOp block = createBlock(rewriter, layer, stream);
  moveBranch(rewriter, layer, block);
  rewriter.replaceAllUsesWith(layer.getLast()->getResult(0), block.getResult());
  // From the last to the first, so that what is erased has no readers any more.
  // Sizes of a row are asked of its read, which stays for them. What else reads the row keeps it too.
  Value sized = layer.read ? layer.read.getResult() : stream;
  for (Operation *op : {layer.getNorm(NormPosition::AfterAdd), layer.getSumOp(), layer.dropout.getOperation(),
                        layer.getNorm(NormPosition::AfterBranch), layer.getNorm(NormPosition::BeforeBranch), head}) {
    if (!op)
      continue;
    redirectSizes(rewriter, op->getResult(0), op == layer.getSumOp() ? stream : sized);
    rewriter.eraseOp(op);
  }
  if (layer.read && layer.read->use_empty())
    rewriter.eraseOp(layer.read);
}

namespace {
struct FormBlocks : resid::impl::FormBlocksBase<FormBlocks> {
  using FormBlocksBase::FormBlocksBase;

  void runOnOperation() override {
    if (failed(expandAddNorms()))
      return signalPassFailure();
    llvm::SetVector<Block *> blocks;
    getOperation()->walk([&](Operation *op) {
      if (isa<AddOp, WriteOp>(op))
        blocks.insert(op->getBlock());
    });
    IRRewriter rewriter(&getContext());
    SmallVector<SubLayerRefusal> allRefusals;
    for (Block *block : blocks) {
      SmallVector<SubLayerRefusal> refusals;
      SmallVector<SubLayer> layers = findSubLayers(*block, refusals);
      reportRefusals(refusals);
      allRefusals.append(refusals);
      for (SubLayer &layer : layers) {
        if (report)
          layer.getSumOp()->emitRemark() << "formed (bit-exact): " << stringifyPlacement(getPlacement(layer));
        formBlock(rewriter, layer);
      }
    }
    // Who asks for all of them wants to know why there are none.
    if (complete && !report && !hasBlocks())
      for (const SubLayerRefusal &refusal : allRefusals)
        if (!refusal.isSubLayer)
          reportRefusal(refusal, DiagnosticSeverity::Remark);
  }

private:
  bool hasBlocks() {
    return getOperation()->walk([](BlockOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }

  void reportRefusals(ArrayRef<SubLayerRefusal> refusals) {
    for (const SubLayerRefusal &refusal : refusals) {
      bool isError = complete && refusal.isSubLayer;
      if (isError)
        signalPassFailure();
      if (isError || report)
        reportRefusal(refusal, isError ? DiagnosticSeverity::Error : DiagnosticSeverity::Remark);
    }
  }

  /// A fused chain is an add and a norm like any other.
  LogicalResult expandAddNorms() {
    bool isThere = getOperation()->walk([](AddNormOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (!isThere)
      return success();
    OpPassManager manager(getOperation()->getName());
    manager.addPass(createExpandAddNorm(ExpandAddNormOptions{report}));
    return runPipeline(manager, getOperation());
  }
};
} // namespace
