// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-absorb-group-reshapes: the reshapes that split rows into the groups of a norm, and join them again: they move
// past elementwise ops, which then go over groups too. Reshapes that users wrote stay where they are.

#include "codegen/linalg/Passes.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowAccess.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::resid {
#define GEN_PASS_DEF_ABSORBGROUPRESHAPES
#include "codegen/linalg/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

static constexpr StringLiteral groupReshape = "rows.group_reshape";

void resid::markGroupReshape(Operation *reshape) {
  reshape->setAttr(groupReshape, UnitAttr::get(reshape->getContext()));
}

namespace {
/// Marks the reshapes that a moving one leaves behind, which move on in turn.
struct Marker : RewriterBase::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) override {
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) && !previous.isSet())
      markGroupReshape(op);
  }
};
} // namespace

/// Whether the op and the elementwise ops that lead to it can go over groups. Random numbers are drawn by row and
/// column, and statistics are of whole rows; what depends on them is better computed beside them.
static bool mayWorkOnGroups(Operation *op, DenseSet<Operation *> &seen) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || !seen.insert(producer).second)
      return true;
    if (rows::isGenerated(producer) || rows::isStatistics(producer))
      return false;
    return !rows::isElementwise(producer) || mayWorkOnGroups(producer, seen);
  });
}

/// Asked with the operand that leads from the elementwise op to the reshape, or from the reshape to it.
static bool isMoving(OpOperand *operand) {
  Operation *reader = operand->getOwner(), *producer = operand->get().getDefiningOp();
  bool isReshape = isa<tensor::ExpandShapeOp>(reader);
  Operation *reshape = isReshape ? reader : producer, *elementwise = isReshape ? producer : reader;
  DenseSet<Operation *> seen;
  return reshape && reshape->hasAttr(groupReshape) && rows::isElementwise(elementwise) &&
         mayWorkOnGroups(elementwise, seen);
}

namespace {
struct AbsorbGroupReshapes : resid::impl::AbsorbGroupReshapesBase<AbsorbGroupReshapes> {
  void runOnOperation() override {
    auto isMarked = [](Operation *op) {
      return op->hasAttr(groupReshape) ? WalkResult::interrupt() : WalkResult::advance();
    };
    if (!getOperation()->walk(isMarked).wasInterrupted())
      return;
    Marker marker;
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, isMoving);
    GreedyRewriteConfig config;
    config.setListener(&marker).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    getOperation()->walk([](Operation *op) { op->removeDiscardableAttr(groupReshape); });
  }
};
} // namespace
