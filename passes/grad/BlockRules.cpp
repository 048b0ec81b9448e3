// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BlockRules.h. Before the rules run, ops get the forms that have rules.

#include "passes/grad/BlockRules.h"

#include "dialect/ResidDialect.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/grad/Activity.h"
#include "passes/grad/Gradients.h"

using namespace mlir;
using namespace mlir::resid;

/// Writes those of the ops that have no rule as linalg.generic, if they have such a form. No bit changes.
static void formGenericOps(ArrayRef<Operation *> ops) {
  SmallVector<Operation *> named, elementwise;
  for (Operation *op : ops) {
    if (isa<GradientOpInterface>(op))
      continue;
    if (isa<linalg::LinalgOp>(op))
      named.push_back(op);
    else if (OpTrait::hasElementwiseMappableTraits(op))
      elementwise.push_back(op);
  }
  for (Operation *op : named) {
    IRRewriter rewriter(op);
    // What cannot be written so has no rule either, and that is said later.
    (void)linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(op));
  }
  if (elementwise.empty())
    return;
  RewritePatternSet patterns(elementwise.front()->getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps).enableFolding(false);
  (void)applyOpPatternsGreedily(elementwise, std::move(patterns), config);
}

namespace {
/// table[ids[…], column], with the column one of the loops.
struct Lookup {
  tensor::ExtractOp extract;
  OpOperand *ids;
  unsigned column;
};
} // namespace

/// The input that a value of the body is an element of, as an index.
static OpOperand *findIds(linalg::GenericOp op, Value index) {
  auto conversion = index.getDefiningOp<arith::IndexCastOp>();
  auto element = conversion ? dyn_cast<BlockArgument>(conversion.getIn()) : BlockArgument();
  if (!element || element.getOwner() != op.getBody() || element.getArgNumber() >= op.getNumDpsInputs())
    return nullptr;
  OpOperand *ids = op.getDpsInputOperand(element.getArgNumber());
  auto type = dyn_cast<RankedTensorType>(ids->get().getType());
  bool areIds = type && type.getRank() > 0 && (element.getType().isInteger(32) || element.getType().isInteger(64));
  return areIds && op.getMatchingIndexingMap(ids).isProjectedPermutation() ? ids : nullptr;
}

static std::optional<Lookup> matchLookup(linalg::GenericOp op, tensor::ExtractOp extract,
                                         const DenseSet<Value> &needed) {
  if (!needed.contains(extract.getTensor()) || extract.getIndices().size() != 2 ||
      op.getRegion().isAncestor(extract.getTensor().getParentRegion()))
    return std::nullopt;
  OpOperand *ids = findIds(op, extract.getIndices()[0]);
  auto column = extract.getIndices()[1].getDefiningOp<linalg::IndexOp>();
  if (!ids || !column || !getEmbeddedType(ids->get().getType(), extract.getTensor().getType()))
    return std::nullopt;
  return Lookup{extract, ids, unsigned(column.getDim())};
}

/// The op with the rows that are looked up as one more input.
static linalg::GenericOp takeOut(linalg::GenericOp op, Lookup lookup) {
  IRRewriter rewriter(op);
  Value table = lookup.extract.getTensor();
  Value rows =
      EmbeddingOp::create(rewriter, lookup.extract.getLoc(),
                          getEmbeddedType(lookup.ids->get().getType(), table.getType()), lookup.ids->get(), table);
  AffineMap ids = op.getMatchingIndexingMap(lookup.ids);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned place = op.getNumDpsInputs();
  maps.insert(maps.begin() + place, ids.insertResult(rewriter.getAffineDimExpr(lookup.column), ids.getNumResults()));
  SmallVector<Value> inputs(op.getInputs());
  inputs.push_back(rows);
  auto made = linalg::GenericOp::create(rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
                                        op.getIteratorTypesArray());
  rewriter.inlineRegionBefore(op.getRegion(), made.getRegion(), made.getRegion().begin());
  Value element = made.getBody()->insertArgument(place, lookup.extract.getType(), lookup.extract.getLoc());
  rewriter.replaceOp(lookup.extract, element);
  rewriter.replaceOp(op, made);
  return made;
}

/// Takes lookups whose table is in `needed` out of the bodies of the ops, as resid.embedding, whose gradient is known.
/// No bit changes.
static void formEmbeddings(ArrayRef<Operation *> ops, const DenseSet<Value> &needed) {
  for (Operation *candidate : ops) {
    auto op = dyn_cast<linalg::GenericOp>(candidate);
    if (!op || op.getNumReductionLoops() != 0)
      continue;
    SmallVector<tensor::ExtractOp> extracts(op.getBody()->getOps<tensor::ExtractOp>());
    for (tensor::ExtractOp extract : extracts)
      if (std::optional<Lookup> lookup = matchLookup(op, extract, needed))
        op = takeOut(op, *lookup);
  }
}

LogicalResult resid::verifyBlock(Block &block, ArrayRef<Value> sources) {
  Activity written(block, sources);
  formEmbeddings(written.ops, written.needed);
  formGenericOps(Activity(block, sources).ops);
  Activity activity(block, sources);
  bool areKnown = true;
  // Integers have no gradient, so none would reach what they were rounded from, in silence.
  for (auto op : block.getOps<QuantizeOp>())
    if (activity.needed.contains(op.getX()) && !op.getQ().use_empty() && !llvm::is_contained(activity.ops, op))
      activity.ops.push_back(op);
  for (Operation *op : activity.ops) {
    auto rule = dyn_cast<GradientOpInterface>(op);
    if (!rule)
      op->emitError("'") << op->getName() << "' has no rule for its gradient, and a result depends on it";
    areKnown &= rule && succeeded(rule.verifyRule(activity.needed));
  }
  return success(areKnown);
}

LogicalResult resid::prepareBlock(Block &block, ArrayRef<Value> sources, Forward &forward) {
  Activity activity(block, sources);
  OpBuilder builder(block.getParentOp()->getContext());
  for (Operation *op : activity.ops) {
    Operation *before = op->getPrevNode(), *after = op->getNextNode();
    if (failed(cast<GradientOpInterface>(op).prepareForward(builder, forward, activity.needed)))
      return failure();
    // The gradient goes through what the op was replaced by.
    for (Operation *made = before ? before->getNextNode() : &block.front(); made != after; made = made->getNextNode())
      activity.needed.insert(made->result_begin(), made->result_end());
  }
  return success();
}

LogicalResult resid::differentiateBlock(Block &block, ArrayRef<Value> sources, Gradients &gradients) {
  Activity activity(block, sources);
  for (Operation *op : llvm::reverse(activity.ops)) {
    if (llvm::none_of(op->getResults(), [&](Value result) { return gradients.get(result); }))
      continue;
    gradients.getBuilder().setLoc(op->getLoc());
    if (failed(cast<GradientOpInterface>(op).differentiate(gradients)))
      return failure();
  }
  return success();
}
