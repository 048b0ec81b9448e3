// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-drop-unit-columns: rows of one column in groups, as the weights of streams are, become rows of a group.

#include "codegen/linalg/Passes.h"
#include "codegen/rows/RowAccess.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::resid {
#define GEN_PASS_DEF_DROPUNITCOLUMNS
#include "codegen/linalg/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// Whether an op goes over rows of one column, a known number of which are a group. Random numbers are drawn by row and
/// column.
static bool hasUnitColumns(linalg::LinalgOp op) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  bool isGrouped = sizes.size() >= 3 && sizes.back() == 1 && !ShapedType::isDynamic(sizes[sizes.size() - 2]);
  return isGrouped && op.hasPureTensorSemantics() && linalg::isElementwise(op) &&
         llvm::none_of(op->getOperands(), [](Value operand) { return rows::isGenerated(operand.getDefiningOp()); });
}

/// The same along the groups; an op that is not of the rows stays.
static LogicalResult dropUnitColumns(IRRewriter &rewriter, linalg::LinalgOp op) {
  rewriter.setInsertionPoint(op);
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return failure();
    generic = *made;
  }
  if (!rows::isElementwise(generic))
    return success();
  linalg::ControlDropUnitDims control;
  control.controlFn = [&](Operation *) { return SmallVector<unsigned>{generic.getNumLoops() - 1}; };
  FailureOr<linalg::DropUnitDimsResult> dropped = linalg::dropUnitDims(rewriter, generic, control);
  if (succeeded(dropped))
    rewriter.replaceOp(generic, dropped->replacements);
  return dropped;
}

namespace {
struct DropUnitColumns : resid::impl::DropUnitColumnsBase<DropUnitColumns> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> found;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::FillOp>(op.getOperation()) && hasUnitColumns(op))
        found.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    if (!llvm::all_of(found, [&](linalg::LinalgOp op) { return succeeded(dropUnitColumns(rewriter, op)); }))
      signalPassFailure();
  }
};
} // namespace
