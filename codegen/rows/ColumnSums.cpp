// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognises sums, and moves their loops.

#include "codegen/rows/ColumnSums.h"

#include "codegen/rows/RowAccess.h"
#include "dialect/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

/// The term that the body adds to the old element of a result: of the addition that it yields, the operand that is not
/// that element, which nothing else may read.
static Value findTerm(Block &body, unsigned inputs, unsigned result) {
  BlockArgument old = body.getArgument(inputs + result);
  auto sum = body.getTerminator()->getOperand(result).getDefiningOp<arith::AddFOp>();
  bool isWide = old.getType().isF32() || old.getType().isF64();
  if (!sum || !isWide || !sum->hasOneUse() || !old.hasOneUse() || *old.user_begin() != sum)
    return {};
  return sum.getLhs() == old ? sum.getRhs() : sum.getLhs();
}

Value rows::getTerm(linalg::GenericOp sum, unsigned result) {
  return findTerm(*sum.getBody(), sum.getInputs().size(), result);
}

/// Whether each result is a sum that keeps at least one loop, and all keep the same ones.
static bool sumsAlike(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 || op.getNumParallelLoops() == 0 ||
      op.getNumReductionLoops() + op.getNumParallelLoops() != op.getNumLoops())
    return false;
  AffineMap first = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!first.isProjectedPermutation() || first.getNumResults() != op.getNumParallelLoops())
    return false;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (op.getMatchingIndexingMap(&init) != first)
      return false;
  return llvm::all_of(llvm::seq(op.getNumDpsInits()),
                      [&](int64_t i) { return findTerm(*op.getBlock(), op.getNumDpsInputs(), i); }) &&
         !matchContraction(op);
}

bool rows::isColumnSum(Operation *op) {
  auto generic = dyn_cast_if_present<linalg::GenericOp>(op);
  if (!generic || !sumsAlike(generic) || !isScalarProgram(generic))
    return false;
  unsigned reductions = generic.getNumReductionLoops();
  RowSpace space{generic.getStaticLoopRanges(), generic.getNumParallelLoops()};
  for (auto [loop, kind] : llvm::enumerate(generic.getIteratorTypesArray()))
    if (linalg::isReductionIterator(kind) != (loop < reductions))
      return false;
  for (OpOperand &init : generic.getDpsInitsMutable())
    for (auto [place, result] : llvm::enumerate(generic.getMatchingIndexingMap(&init).getResults()))
      if (cast<AffineDimExpr>(result).getPosition() != reductions + place)
        return false;
  return llvm::all_of(generic.getDpsInputOperands(),
                      [&](OpOperand *input) { return space.fits(generic.getMatchingIndexingMap(input)); });
}

bool rows::areSumsLast(ArrayRef<Operation *> members) {
  auto isMember = [&](Operation *op) { return op && llvm::is_contained(members, op); };
  return llvm::all_of(llvm::make_filter_range(members, isColumnSum), [&](Operation *sum) {
    return llvm::none_of(sum->getUsers(), isMember) &&
           llvm::none_of(cast<linalg::GenericOp>(sum).getOutputs(),
                         [&](Value init) { return isMember(init.getDefiningOp()); });
  });
}

/// The loops in a new order: reductions, in their order, then the dimensions of the results, in theirs.
static SmallVector<unsigned> orderLoops(linalg::LinalgOp op) {
  SmallVector<unsigned> order;
  op.getReductionDims(order);
  for (AffineExpr result : op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults())
    order.push_back(cast<AffineDimExpr>(result).getPosition());
  return order;
}

/// Whether the op, its loops in that order, would be a sum over leading dimensions.
static bool isOverLeading(linalg::LinalgOp op, ArrayRef<unsigned> order) {
  SmallVector<unsigned> places(order.size());
  for (auto [place, loop] : llvm::enumerate(order))
    places[loop] = place;
  RowSpace space{SmallVector<int64_t>(order.size(), ShapedType::kDynamic), op.getNumParallelLoops()};
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    SmallVector<AffineExpr> dims;
    for (unsigned place : places)
      dims.push_back(getAffineDimExpr(place, op.getContext()));
    AffineMap moved = map.replaceDimsAndSymbols(dims, {}, map.getNumDims(), 0);
    return moved.isProjectedPermutation(/*allowZeroInResults=*/true) && space.fits(moved);
  });
}

LogicalResult rows::normalizeColumnSums(Operation *root) {
  SmallVector<linalg::LinalgOp> sums;
  root->walk([&](linalg::LinalgOp op) {
    bool isKnown = isa<linalg::GenericOp, linalg::ReduceOp>(op.getOperation());
    if (isKnown && sumsAlike(op) && isOverLeading(op, orderLoops(op)))
      sums.push_back(op);
  });
  IRRewriter rewriter(root->getContext());
  for (linalg::LinalgOp op : sums) {
    rewriter.setInsertionPoint(op);
    SmallVector<unsigned> order = orderLoops(op);
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic) {
      FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
      if (failed(made))
        return op.emitOpError("expected a sum with a generic form");
      generic = *made;
    }
    bool isInOrder = llvm::equal(order, llvm::seq<unsigned>(0, order.size()));
    if (!isInOrder && failed(linalg::interchangeGenericOp(rewriter, generic, order)))
      return generic.emitOpError("expected loops that can be brought into another order");
  }
  return success();
}
