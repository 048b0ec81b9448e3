// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family Residual: residual add and bias.

#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::resid;

Value resid::lowerAdd(ImplicitLocOpBuilder &builder, Value x, Value f, Value gate, const APFloat &skipScale,
                      const APFloat &branchScale, Type resultType) {
  auto type = cast<RankedTensorType>(x.getType());
  FloatType arithmetic = getArithmeticType(type.getElementType());
  AffineMap identity = getIdentityMap(builder.getContext(), type.getRank());
  AffineMap gateMap = gate ? getBroadcastMap(cast<RankedTensorType>(gate.getType()), type.getShape()) : AffineMap();
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    Value branch = elements[1];
    if (elements[2])
      branch = arith::MulFOp::create(inner, elements[2], branch);
    if (!branchScale.isExactlyValue(1.0))
      branch = arith::MulFOp::create(inner, createConstant(inner, arithmetic, branchScale), branch);
    if (skipScale.isExactlyValue(1.0))
      return {arith::AddFOp::create(inner, elements[0], branch)};
    return {math::FmaOp::create(inner, createConstant(inner, arithmetic, skipScale), elements[0], branch)};
  };
  return createElementwise(builder, {{x, identity}, {f, identity}, {gate, gateMap}}, getSizes(builder, x), resultType,
                           arithmetic, body)
      .front();
}

Value resid::lowerAddBias(ImplicitLocOpBuilder &builder, Value f, Value bias) {
  auto type = cast<RankedTensorType>(f.getType());
  AffineMap identity = getIdentityMap(builder.getContext(), type.getRank());
  AffineMap feature = getColumnMap(builder.getContext(), type.getRank(), 1);
  auto body = [](ImplicitLocOpBuilder &inner, ValueRange elements) -> SmallVector<Value> {
    return {arith::AddFOp::create(inner, elements[0], elements[1])};
  };
  return createElementwise(builder, {{f, identity}, {bias, feature}}, getSizes(builder, f), f.getType(),
                           getArithmeticType(type.getElementType()), body)
      .front();
}

namespace {
struct LowerAdd : OpConversionPattern<AddOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AddOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, lowerAdd(builder, adaptor.getX(), adaptor.getF(), adaptor.getGate(), op.getSkipScale(),
                                    op.getBranchScale(), op.getType()));
    return success();
  }
};

struct LowerAddBias : OpConversionPattern<AddBiasOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AddBiasOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, lowerAddBias(builder, adaptor.getF(), adaptor.getBias()));
    return success();
  }
};
} // namespace

void resid::populateResidualToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerAdd, LowerAddBias>(patterns.getContext());
}
