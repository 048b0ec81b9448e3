// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family Residual: residual add and bias.

#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::resid;

Value resid::lowerAdd(Code &builder, Value x, Value f, Value gate, const APFloat &skipScale, const APFloat &branchScale,
                      Type resultType) {
  auto type = cast<RankedTensorType>(x.getType());
  FloatType arithmetic = getArithmeticType(type.getElementType());
  AffineMap identity = getIdentityMap(builder.getContext(), type.getRank());
  AffineMap gateMap = gate ? getBroadcastMap(cast<RankedTensorType>(gate.getType()), type.getShape()) : AffineMap();
  auto body = [&](Code &inner, ValueRange elements) {
    Value branch = elements[1];
    if (elements[2])
      branch = inner.multiply(elements[2], branch);
    if (!branchScale.isExactlyValue(1.0))
      branch = inner.multiply(createConstant(inner, arithmetic, branchScale), branch);
    if (skipScale.isExactlyValue(1.0))
      return inner.add(elements[0], branch);
    return inner.fma(createConstant(inner, arithmetic, skipScale), elements[0], branch);
  };
  return createElementwise(builder, {{x, identity}, {f, identity}, {gate, gateMap}}, getSizes(builder, x), resultType,
                           arithmetic, body);
}

Value resid::lowerAddBias(Code &builder, Value f, Value bias) {
  auto type = cast<RankedTensorType>(f.getType());
  AffineMap identity = getIdentityMap(builder.getContext(), type.getRank());
  AffineMap feature = getColumnMap(builder.getContext(), type.getRank(), 1);
  auto body = [](Code &inner, ValueRange elements) { return inner.add(elements[0], elements[1]); };
  return createElementwise(builder, {{f, identity}, {bias, feature}}, getSizes(builder, f), f.getType(),
                           getArithmeticType(type.getElementType()), body);
}

namespace {
struct LowerAdd : OpConversionPattern<AddOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AddOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    rewriter.replaceOp(op, lowerAdd(builder, adaptor.getX(), adaptor.getF(), adaptor.getGate(), op.getSkipScale(),
                                    op.getBranchScale(), op.getType()));
    return success();
  }
};

struct LowerAddBias : OpConversionPattern<AddBiasOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AddBiasOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Code builder(rewriter, op.getLoc());
    rewriter.replaceOp(op, lowerAddBias(builder, adaptor.getF(), adaptor.getBias()));
    return success();
  }
};
} // namespace

void resid::populateResidualToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerAdd, LowerAddBias>(patterns.getContext());
}
