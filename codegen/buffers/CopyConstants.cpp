// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-copy-constants: constants in memory that kernels can be given.

#include "codegen/buffers/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::resid::buffers {
#define GEN_PASS_DEF_COPYCONSTANTS
#include "codegen/buffers/Passes.h.inc"
} // namespace mlir::resid::buffers

using namespace mlir;
using namespace mlir::resid;

namespace {

/// Whether the use is in a loop nest, whose code has the constant.
bool isOfNest(OpOperand &use) {
  auto nest = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return (nest && nest.isDpsInput(&use)) || isa_and_present<linalg::GenericOp>(use.getOwner()->getParentOp());
}

struct CopyConstants : public buffers::impl::CopyConstantsBase<CopyConstants> {
  void runOnOperation() override {
    getOperation()->walk([](arith::ConstantOp constant) {
      if (auto type = dyn_cast<RankedTensorType>(constant.getType()))
        copy(constant, type);
    });
  }

  /// One copy for all other uses.
  static void copy(arith::ConstantOp constant, RankedTensorType type) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : constant->getUses())
      if (!isOfNest(use))
        uses.push_back(&use);
    if (uses.empty())
      return;
    OpBuilder builder(constant->getContext());
    builder.setInsertionPointAfter(constant);
    Value empty = tensor::EmptyOp::create(builder, constant.getLoc(), type.getShape(), type.getElementType());
    Value copied = linalg::CopyOp::create(builder, constant.getLoc(), constant.getResult(), empty).getResult(0);
    for (OpOperand *use : uses)
      use->set(copied);
  }
};

} // namespace
