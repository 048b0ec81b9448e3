// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes apart operations on tensors that are defined by a decomposition.

#include "codegen/buffers/Passes.h"
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
        op->emitOpError("is not available on CPU targets: expected one that simpler ops can stand for");
        return signalPassFailure();
      }
    }
  }

  static LogicalResult decompose(PatternRewriter &rewriter, Operation *op) {
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      return linalg::DecomposePadOpPattern(op->getContext()).matchAndRewrite(pad, rewriter);
    FailureOr<SmallVector<Value>> parts = cast<tensor::ConcatOp>(op).decomposeOperation(rewriter);
    if (succeeded(parts))
      rewriter.replaceOp(op, *parts);
    return success(succeeded(parts));
  }
};

} // namespace
