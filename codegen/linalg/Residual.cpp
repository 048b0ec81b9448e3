// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of the family Residual: residual add and bias.

#include "codegen/linalg/Elementwise.h"
#include "codegen/linalg/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::resid;

/// The elements of an add in the order of its operands; those that it does not have are null.
static Value createSum(Code &builder, ValueRange elements, const AddParts &parts, FloatType arithmetic) {
  Value x = elements[0], branch = elements[1], gate = elements[2], skip = elements[3], also = elements[4],
        alsoScale = elements[5];
  APFloat branchScale = parts.branchScale.getValue(), skipScale = parts.skipScale.getValue();
  if (gate)
    branch = builder.multiply(gate, branch);
  if (!branchScale.isExactlyValue(1.0))
    branch = builder.multiply(createConstant(builder, arithmetic, branchScale), branch);
  if (!skipScale.isExactlyValue(1.0))
    skip = createConstant(builder, arithmetic, skipScale);
  Value sum = skip ? builder.fma(skip, x, branch) : builder.add(x, branch);
  if (!also)
    return sum;
  return alsoScale ? builder.fma(alsoScale, also, sum) : builder.add(sum, also);
}

Value resid::lowerAdd(Code &builder, Value x, Value f, const AddParts &parts, Type resultType) {
  auto type = cast<RankedTensorType>(x.getType());
  FloatType arithmetic = getArithmeticType(type.getElementType());
  AffineMap identity = getIdentityMap(builder.getContext(), type.getRank());
  auto getMap = [&](Value factor) {
    return factor ? getBroadcastMap(cast<RankedTensorType>(factor.getType()), type.getShape()) : AffineMap();
  };
  auto body = [&](Code &inner, ValueRange elements) { return createSum(inner, elements, parts, arithmetic); };
  return createElementwise(builder,
                           {{x, identity},
                            {f, identity},
                            {parts.gate, getMap(parts.gate)},
                            {parts.skip, getMap(parts.skip)},
                            {parts.also, identity},
                            {parts.alsoScale, getMap(parts.alsoScale)}},
                           getSizes(builder, x), resultType, arithmetic, body);
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
    AddParts parts = getAddParts(op).withOperands(op->getOperands(), adaptor.getOperands());
    rewriter.replaceOp(op, lowerAdd(builder, adaptor.getX(), adaptor.getF(), parts, op.getType()));
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
