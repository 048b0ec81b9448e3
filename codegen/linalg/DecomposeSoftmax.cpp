// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes linalg.softmax apart early enough for its elementwise parts to become row kernels.

#include "codegen/linalg/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::resid {
#define GEN_PASS_DEF_DECOMPOSESOFTMAX
#include "codegen/linalg/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

namespace {

struct DecomposeSoftmax : public resid::impl::DecomposeSoftmaxBase<DecomposeSoftmax> {
  void runOnOperation() override {
    SmallVector<linalg::SoftmaxOp> found;
    getOperation()->walk([&](linalg::SoftmaxOp op) {
      if (op.hasPureTensorSemantics())
        found.push_back(op);
    });
    PatternRewriter rewriter(&getContext());
    for (linalg::SoftmaxOp op : found) {
      rewriter.setInsertionPoint(op);
      FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
      assert(succeeded(parts) && "a softmax on tensors has parts");
      rewriter.replaceOp(op, *parts);
    }
  }
};

} // namespace
