// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes apart operations on tensors that are defined by a decomposition.

#include "codegen/buffers/Passes.h"
#include "dialect/Slices.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::resid::buffers {
#define GEN_PASS_DEF_DECOMPOSEAGGREGATES
#include "codegen/buffers/Passes.h.inc"
} // namespace mlir::resid::buffers

using namespace mlir;
using namespace mlir::resid;

namespace {

struct DecomposeAggregates : public buffers::impl::DecomposeAggregatesBase<DecomposeAggregates> {
  void runOnOperation() override {
    SmallVector<Operation *> aggregates;
    getOperation()->walk([&](Operation *op) {
      if (isa<tensor::ConcatOp, tensor::PadOp>(op))
        aggregates.push_back(op);
    });
    PatternRewriter rewriter(&getContext());
    for (Operation *op : aggregates) {
      rewriter.setInsertionPoint(op);
      if (failed(decompose(rewriter, op))) {
        op->emitOpError("is not available on any target: expected one that simpler ops can stand for");
        return signalPassFailure();
      }
    }
  }

  /// What the decompositions make slices of although there is nothing in them (dialect/Slices.h).
  static bool replaceEmpty(PatternRewriter &rewriter, Operation *op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    auto pad = dyn_cast<tensor::PadOp>(op);
    Value padding = pad && hasNoElements(pad.getSourceType()) ? pad.getConstantPaddingValue() : Value();
    if (!hasNoElements(type) && !padding)
      return false;
    ReifiedRankedShapedTypeDims sizes;
    if (failed(reifyResultShapes(rewriter, op, sizes)))
      return false;
    Value empty = tensor::EmptyOp::create(rewriter, op->getLoc(), sizes.front(), type.getElementType());
    if (padding)
      empty = linalg::FillOp::create(rewriter, op->getLoc(), padding, empty).getResult(0);
    if (empty.getType() != type)
      empty = tensor::CastOp::create(rewriter, op->getLoc(), type, empty);
    rewriter.replaceOp(op, empty);
    return true;
  }

  static LogicalResult decompose(PatternRewriter &rewriter, Operation *op) {
    if (replaceEmpty(rewriter, op))
      return success();
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      return linalg::DecomposePadOpPattern(op->getContext()).matchAndRewrite(pad, rewriter);
    auto concat = cast<tensor::ConcatOp>(op);
    SmallVector<Value> inputs(concat.getInputs());
    llvm::erase_if(inputs, [](Value input) { return hasNoElements(input.getType()); });
    concat.getInputsMutable().assign(inputs);
    FailureOr<SmallVector<Value>> parts = concat.decomposeOperation(rewriter);
    if (succeeded(parts))
      rewriter.replaceOp(op, *parts);
    return success(succeeded(parts));
  }
};

} // namespace
