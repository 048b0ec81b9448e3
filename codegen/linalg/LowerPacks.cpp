// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass resid-lower-packs: packing as padding, reshapes and transposes.

#include "codegen/linalg/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::resid {
#define GEN_PASS_DEF_LOWERPACKS
#include "codegen/linalg/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;

/// Only of static sizes is it known that the packed and the plain array fit together.
template <typename Op, typename Lower> static LogicalResult lower(Op op, Lower lowerOp) {
  IRRewriter rewriter(op);
  bool isStatic = llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  });
  if (isStatic && op.hasPureTensorSemantics() && succeeded(lowerOp(rewriter, op)))
    return success();
  return op.emitOpError("is not available on any target: expected tensors of static sizes");
}

namespace {
struct LowerPacks : public resid::impl::LowerPacksBase<LowerPacks> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](Operation *op) {
      if (auto pack = dyn_cast<linalg::PackOp>(op))
        return WalkResult(lower(pack, [](RewriterBase &rewriter, linalg::PackOp pack) {
          return linalg::lowerPack(rewriter, pack, /*lowerPadLikeWithInsertSlice=*/false);
        }));
      if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
        return WalkResult(lower(unpack, [](RewriterBase &rewriter, linalg::UnPackOp unpack) {
          return linalg::lowerUnPack(rewriter, unpack, /*lowerUnpadLikeWithExtractSlice=*/false);
        }));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
