// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes apart the linalg operations that are defined by a decomposition.

#include "codegen/cpu/Passes.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_DECOMPOSEAGGREGATES
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;

namespace {

struct DecomposeAggregates : public cpu::impl::DecomposeAggregatesBase<DecomposeAggregates> {
  void runOnOperation() override {
    SmallVector<linalg::SoftmaxOp> aggregates;
    getOperation()->walk([&](linalg::SoftmaxOp op) {
      if (op.hasPureTensorSemantics())
        aggregates.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::SoftmaxOp op : aggregates) {
      rewriter.setInsertionPoint(op);
      FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
      if (failed(parts)) {
        op.emitOpError("is not available on CPU targets: expected one that simpler ops can stand for");
        return signalPassFailure();
      }
      rewriter.replaceOp(op, *parts);
    }
  }
};

} // namespace
