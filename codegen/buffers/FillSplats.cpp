// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-fill-splats: large constants of one value, which objects need not store.

#include "codegen/buffers/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace mlir::resid::buffers {
#define GEN_PASS_DEF_FILLSPLATS
#include "codegen/buffers/Passes.h.inc"
} // namespace mlir::resid::buffers

using namespace mlir;
using namespace mlir::resid;

static Value createScalar(OpBuilder &builder, Location loc, SplatElementsAttr splat) {
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
}

static Value createFill(OpBuilder &builder, Location loc, SplatElementsAttr splat) {
  auto type = cast<RankedTensorType>(splat.getType());
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  return linalg::FillOp::create(builder, loc, createScalar(builder, loc, splat), empty).getResult(0);
}

/// Lets the op use the scalar instead of its input. Fails where the input alone says how far a loop runs.
static LogicalResult inlineInput(IRRewriter &rewriter, OpOperand &use, SplatElementsAttr splat) {
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!op || !op.isDpsInput(&use) || !op.hasPureTensorSemantics())
    return failure();
  unsigned number = use.getOperandNumber();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.erase(maps.begin() + number);
  if (!inversePermutation(concatAffineMaps(maps, op.getContext())))
    return failure();
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!*generic)
    generic = linalg::generalizeNamedOp(rewriter, op);
  if (failed(generic))
    return failure();
  rewriter.setInsertionPoint(*generic);
  BlockArgument element = generic->getBody()->getArgument(number);
  element.replaceAllUsesWith(createScalar(rewriter, generic->getLoc(), splat));
  generic->getBody()->eraseArgument(number);
  generic->getInputsMutable().erase(number);
  generic->setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  return success();
}

namespace {
struct FillSplats : public buffers::impl::FillSplatsBase<FillSplats> {
  using FillSplatsBase::FillSplatsBase;

  void runOnOperation() override {
    SmallVector<arith::ConstantOp> constants;
    getOperation()->walk([&](arith::ConstantOp constant) {
      auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
      auto type = splat ? dyn_cast<RankedTensorType>(splat.getType()) : RankedTensorType();
      if (type && type.getElementType().isIntOrIndexOrFloat() && getBytes(type) > storedBytes)
        constants.push_back(constant);
    });
    IRRewriter rewriter(&getContext());
    for (arith::ConstantOp constant : constants)
      replace(rewriter, constant);
  }

  static int64_t getBytes(RankedTensorType type) {
    unsigned bits = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
    return type.getNumElements() * std::max(1u, bits / 8);
  }

  static void replace(IRRewriter &rewriter, arith::ConstantOp constant) {
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    // An op that is generalized takes its other uses along.
    for (OpOperand *use = nextUse(constant); use; use = nextUse(constant)) {
      if (succeeded(inlineInput(rewriter, *use, splat)))
        continue;
      rewriter.setInsertionPoint(use->getOwner());
      use->set(createFill(rewriter, constant.getLoc(), splat));
    }
    constant.erase();
  }

  static OpOperand *nextUse(arith::ConstantOp constant) {
    return constant->use_empty() ? nullptr : &*constant->use_begin();
  }
};
} // namespace
