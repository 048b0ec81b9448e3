// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions from and to bf16 and f16 as integer arithmetic, on scalars and vectors.

#include "codegen/arithmetic/Passes.h"
#include "codegen/builder/Code.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::resid::arithmetic {
#define GEN_PASS_DEF_EXPANDNARROWFLOATS
#include "codegen/arithmetic/Passes.h.inc"
} // namespace mlir::resid::arithmetic

using namespace mlir;
using namespace mlir::resid;

namespace {

Value extendBF16(Code &a, Value narrow) {
  Value wide = a.castInteger(a.bits(narrow), a.getI32Type());
  return a.fromBits(a.shiftLeft(wide, 16));
}

/// Adds half a unit of what is dropped, less a bit where the kept part is even: round to nearest even.
Value roundBits(Code &a, Value bits, unsigned dropped) {
  Value odd = a.both(a.shiftRight(bits, dropped), 1);
  Value bias = a.add(odd, (1u << (dropped - 1)) - 1);
  return a.shiftRight(a.add(bits, bias), dropped);
}

Value truncateToBF16(Code &a, Value wide, Type element) {
  Value bits = a.bits(wide);
  Value rounded = roundBits(a, bits, 16);
  // A NaN whose payload lies in the dropped bits would round to infinity; the quiet bit keeps it a NaN.
  Value quiet = a.either(a.shiftRight(bits, 16), 0x40);
  Value isNaN = a.isNaN(wide);
  Value result = a.castInteger(a.select(isNaN, quiet, rounded), a.getI16Type());
  return a.castBits(result, element);
}

Value extendF16(Code &a, Value narrow) {
  Value bits = a.castInteger(a.bits(narrow), a.getI32Type());
  Value magnitude = a.both(bits, 0x7FFF);
  Value sign = a.shiftLeft(a.both(bits, 0x8000), 16);
  Value shifted = a.shiftLeft(magnitude, 13);
  // The exponents' biases differ by 112; the largest exponent (infinity, NaN) goes to the largest.
  Value normal = a.add(shifted, 112u << 23);
  Value special = a.add(shifted, 224u << 23);
  Value units = a.create<arith::SIToFPOp>(Code::withShape(magnitude, a.getF32Type()), magnitude);
  Value subnormal = a.bits(a.multiply(units, 0x1.0p-24));
  Value isSpecial = a.compare(arith::CmpIPredicate::uge, magnitude, 0x7C00);
  Value isSubnormal = a.compare(arith::CmpIPredicate::ult, magnitude, 0x0400);
  Value result = a.select(isSubnormal, subnormal, a.select(isSpecial, special, normal));
  return a.fromBits(a.either(result, sign));
}

Value truncateToF16(Code &a, Value wide, Type element) {
  Value bits = a.bits(wide);
  Value magnitude = a.both(bits, 0x7FFFFFFF);
  Value sign = a.shiftRight(a.both(bits, 0x80000000), 16);
  Value normal = roundBits(a, a.subtract(magnitude, 112u << 23), 13);
  // Adding 1/2 leaves units of 2^-24, those of the subnormals, in the last bits.
  Value units = a.fromBits(magnitude), half = a.constant(units.getType(), 0.5), sum = a.add(units, half);
  Value subnormal = a.subtract(a.bits(sum), a.bits(half));
  Value isNaN = a.compare(arith::CmpIPredicate::ugt, magnitude, 0x7F800000);
  Value isLarge = a.compare(arith::CmpIPredicate::uge, magnitude, 0x47800000);
  Value isSmall = a.compare(arith::CmpIPredicate::ult, magnitude, 0x38800000);
  Value special = a.select(isNaN, a.constant(bits.getType(), 0x7E00), 0x7C00);
  Value result = a.select(isLarge, special, a.select(isSmall, subnormal, normal));
  return a.castBits(a.castInteger(a.either(result, sign), a.getI16Type()), element);
}

/// f64 to f32 rounded to odd: a later rounding to a type at least two bits narrower is then right.
Value truncateToOddF32(Code &a, Value wide) {
  Value nearest = a.castFloat(wide, a.getF32Type());
  Value back = a.castFloat(nearest, a.getF64Type());
  Value isInexact = a.compare(arith::CmpFPredicate::ONE, back, wide);
  Value isAbove = a.isAbove(a.absolute(back), a.absolute(wide));
  Value bits = a.bits(nearest);
  Value isEven = a.isEqual(a.both(bits, 1), 0);
  Value neighbour = a.add(bits, a.select(isAbove, a.constant(bits.getType(), -1), 1));
  Value adjust = a.both(isInexact, isEven);
  return a.fromBits(a.select(adjust, neighbour, bits));
}

struct ExpandExtension : public OpRewritePattern<arith::ExtFOp> {
  ExpandExtension(MLIRContext *context, bool hasF16C) : OpRewritePattern(context), hasF16C(hasF16C) {}

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn()), to = getElementTypeOrSelf(op.getType());
    Code a(rewriter, op.getLoc());
    bool isHardware = from.isF16() && to.isF32() && hasF16C;
    if ((!from.isF16() && !from.isBF16()) || isHardware)
      return rewriter.notifyMatchFailure(op, "is an instruction of the target");
    Value wide;
    if (from.isF16() && hasF16C)
      wide = a.castFloat(op.getIn(), a.getF32Type());
    else
      wide = from.isBF16() ? extendBF16(a, op.getIn()) : extendF16(a, op.getIn());
    rewriter.replaceOp(op, a.castFloat(wide, to));
    return success();
  }
  bool hasF16C;
};

struct ExpandTruncation : public OpRewritePattern<arith::TruncFOp> {
  ExpandTruncation(MLIRContext *context, bool hasF16C) : OpRewritePattern(context), hasF16C(hasF16C) {}

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn()), to = getElementTypeOrSelf(op.getType());
    Code a(rewriter, op.getLoc());
    bool isHardware = from.isF32() && to.isF16() && hasF16C;
    if ((!to.isF16() && !to.isBF16()) || isHardware)
      return rewriter.notifyMatchFailure(op, "is an instruction of the target");
    Value wide = from.isF64() ? truncateToOddF32(a, op.getIn()) : op.getIn();
    if (to.isF16() && hasF16C)
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), wide);
    else
      rewriter.replaceOp(op, to.isBF16() ? truncateToBF16(a, wide, to) : truncateToF16(a, wide, to));
    return success();
  }
  bool hasF16C;
};

struct ExpandNarrowFloats : public arithmetic::impl::ExpandNarrowFloatsBase<ExpandNarrowFloats> {
  using ExpandNarrowFloatsBase::ExpandNarrowFloatsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExtension, ExpandTruncation>(&getContext(), hasF16C);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
