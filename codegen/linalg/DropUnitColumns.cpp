// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-drop-unit-columns: rows of one column in groups, as the weights of streams are, become rows of a group.

#include "codegen/linalg/Passes.h"
#include "codegen/rows/RowAccess.h"
#include "dialect/FunctionAttributes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::resid {
#define GEN_PASS_DEF_DROPUNITCOLUMNS
#include "codegen/linalg/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// Whether the single columns of a group lie one after the other, as far as is known. A column of a wider array has
/// that array's stride, which a row of one column may have, but no row of more.
static bool liesTogether(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
    return function && !function.getArgAttr(argument.getArgNumber(), kStridedAttribute);
  }
  Operation *op = tensor.getDefiningOp();
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
    return liesTogether(op->getOperand(0));
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice)
    return true;
  if (llvm::any_of(slice.getStaticStrides(), [](int64_t stride) { return stride != 1; }))
    return false;
  // A part of the groups themselves, before they have single columns; or of groups that have nothing else.
  return slice.getType().getShape().back() != 1 ||
         (slice.getSourceType().getShape().back() == 1 && liesTogether(slice.getSource()));
}

/// Whether no part of a wider array is what users make of a tensor.
static bool isWhole(Value tensor) {
  return llvm::none_of(tensor.getUsers(), [](Operation *user) {
    return isa<tensor::InsertSliceOp, tensor::ConcatOp>(user) ||
           (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(user) && !isWhole(user->getResult(0)));
  });
}

/// Whether an op goes over rows of one column, a known number of which are a group. Random numbers are drawn by row and
/// column.
static bool hasUnitColumns(linalg::LinalgOp op) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  bool isGrouped = sizes.size() >= 3 && sizes.back() == 1 && !ShapedType::isDynamic(sizes[sizes.size() - 2]);
  return isGrouped && op.hasPureTensorSemantics() && linalg::isElementwise(op) &&
         llvm::all_of(op->getResults(), isWhole) && llvm::all_of(op->getOperands(), [](Value operand) {
           bool isScalar = !isa<ShapedType>(operand.getType());
           return isScalar || (!rows::isGenerated(operand.getDefiningOp()) && liesTogether(operand));
         });
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
