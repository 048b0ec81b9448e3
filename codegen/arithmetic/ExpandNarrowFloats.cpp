// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions from and to bf16 and f16 as integer arithmetic, on scalars and vectors.

#include "codegen/arithmetic/Passes.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::resid::arithmetic {
#define GEN_PASS_DEF_EXPANDNARROWFLOATS
#include "codegen/arithmetic/Passes.h.inc"
} // namespace mlir::resid::arithmetic

using namespace mlir;
using namespace mlir::resid;

namespace {

/// Arithmetic on values of one shape (a scalar or a vector).
struct BitArithmetic {
  OpBuilder &builder;
  Location loc;
  /// The scalar or vector type whose shape all values have.
  Type shape;

  Type ofElement(Type element) const {
    auto shaped = dyn_cast<ShapedType>(shape);
    return shaped ? Type(shaped.clone(element)) : element;
  }
  Type i16() const { return ofElement(builder.getI16Type()); }
  Type i32() const { return ofElement(builder.getI32Type()); }
  Type f32() const { return ofElement(builder.getF32Type()); }

  Value bits(uint32_t value) const { return splat(i32(), builder.getI32IntegerAttr(static_cast<int32_t>(value))); }
  Value number(float value) const { return splat(f32(), builder.getF32FloatAttr(value)); }
  Value splat(Type type, TypedAttr element) const {
    if (auto shaped = dyn_cast<ShapedType>(type))
      element = DenseElementsAttr::get(shaped, ArrayRef<Attribute>(element));
    return arith::ConstantOp::create(builder, loc, element);
  }
  template <typename OpTy, typename... Args> Value make(Args... args) const {
    return OpTy::create(builder, loc, args...);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) const { return make<arith::CmpIOp>(predicate, a, b); }
  Value choose(Value condition, Value yes, Value no) const { return make<arith::SelectOp>(condition, yes, no); }
  Value cast(Type type, Value value) const { return make<arith::BitcastOp>(type, value); }
};

Value extendBF16(const BitArithmetic &a, Value narrow) {
  Value wide = a.make<arith::ExtUIOp>(a.i32(), a.cast(a.i16(), narrow));
  return a.cast(a.f32(), a.make<arith::ShLIOp>(wide, a.bits(16)));
}

/// Adds half a unit of what is dropped, less a bit where the kept part is even: round to nearest even.
Value roundBits(const BitArithmetic &a, Value bits, unsigned dropped) {
  Value odd = a.make<arith::AndIOp>(a.make<arith::ShRUIOp>(bits, a.bits(dropped)), a.bits(1));
  Value bias = a.make<arith::AddIOp>(odd, a.bits((1u << (dropped - 1)) - 1));
  return a.make<arith::ShRUIOp>(a.make<arith::AddIOp>(bits, bias), a.bits(dropped));
}

Value truncateToBF16(const BitArithmetic &a, Value wide, Type resultType) {
  Value bits = a.cast(a.i32(), wide);
  Value rounded = roundBits(a, bits, 16);
  // A NaN whose payload lies in the dropped bits would round to infinity; the quiet bit keeps it a NaN.
  Value quiet = a.make<arith::OrIOp>(a.make<arith::ShRUIOp>(bits, a.bits(16)), a.bits(0x40));
  Value isNaN = a.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, wide, wide);
  Value result = a.make<arith::TruncIOp>(a.i16(), a.choose(isNaN, quiet, rounded));
  return a.cast(resultType, result);
}

Value extendF16(const BitArithmetic &a, Value narrow) {
  Value bits = a.make<arith::ExtUIOp>(a.i32(), a.cast(a.i16(), narrow));
  Value magnitude = a.make<arith::AndIOp>(bits, a.bits(0x7FFF));
  Value sign = a.make<arith::ShLIOp>(a.make<arith::AndIOp>(bits, a.bits(0x8000)), a.bits(16));
  Value shifted = a.make<arith::ShLIOp>(magnitude, a.bits(13));
  // The exponents' biases differ by 112; the largest exponent (infinity, NaN) goes to the largest.
  Value normal = a.make<arith::AddIOp>(shifted, a.bits(112u << 23));
  Value special = a.make<arith::AddIOp>(shifted, a.bits(224u << 23));
  Value units = a.make<arith::SIToFPOp>(a.f32(), magnitude);
  Value subnormal = a.cast(a.i32(), a.make<arith::MulFOp>(units, a.number(0x1.0p-24f)));
  Value isSpecial = a.compare(arith::CmpIPredicate::uge, magnitude, a.bits(0x7C00));
  Value isSubnormal = a.compare(arith::CmpIPredicate::ult, magnitude, a.bits(0x0400));
  Value result = a.choose(isSubnormal, subnormal, a.choose(isSpecial, special, normal));
  return a.cast(a.f32(), a.make<arith::OrIOp>(result, sign));
}

Value truncateToF16(const BitArithmetic &a, Value wide, Type resultType) {
  Value bits = a.cast(a.i32(), wide);
  Value magnitude = a.make<arith::AndIOp>(bits, a.bits(0x7FFFFFFF));
  Value sign = a.make<arith::ShRUIOp>(a.make<arith::AndIOp>(bits, a.bits(0x80000000)), a.bits(16));
  Value normal = roundBits(a, a.make<arith::SubIOp>(magnitude, a.bits(112u << 23)), 13);
  // Adding 1/2 leaves units of 2^-24, those of the subnormals, in the last bits.
  Value half = a.number(0.5f);
  Value sum = a.make<arith::AddFOp>(a.cast(a.f32(), magnitude), half);
  Value subnormal = a.make<arith::SubIOp>(a.cast(a.i32(), sum), a.cast(a.i32(), half));
  Value isNaN = a.compare(arith::CmpIPredicate::ugt, magnitude, a.bits(0x7F800000));
  Value isLarge = a.compare(arith::CmpIPredicate::uge, magnitude, a.bits(0x47800000));
  Value isSmall = a.compare(arith::CmpIPredicate::ult, magnitude, a.bits(0x38800000));
  Value special = a.choose(isNaN, a.bits(0x7E00), a.bits(0x7C00));
  Value result = a.choose(isLarge, special, a.choose(isSmall, subnormal, normal));
  return a.cast(resultType, a.make<arith::TruncIOp>(a.i16(), a.make<arith::OrIOp>(result, sign)));
}

/// f64 to f32 rounded to odd: a later rounding to a type at least two bits narrower is then right.
Value truncateToOddF32(const BitArithmetic &a, Value wide) {
  Value nearest = a.make<arith::TruncFOp>(a.f32(), wide);
  Value back = a.make<arith::ExtFOp>(wide.getType(), nearest);
  Value isInexact = a.make<arith::CmpFOp>(arith::CmpFPredicate::ONE, back, wide);
  Value isAbove =
      a.make<arith::CmpFOp>(arith::CmpFPredicate::OGT, a.make<math::AbsFOp>(back), a.make<math::AbsFOp>(wide));
  Value bits = a.cast(a.i32(), nearest);
  Value isEven = a.compare(arith::CmpIPredicate::eq, a.make<arith::AndIOp>(bits, a.bits(1)), a.bits(0));
  Value neighbour = a.make<arith::AddIOp>(bits, a.choose(isAbove, a.bits(0xFFFFFFFF), a.bits(1)));
  Value adjust = a.make<arith::AndIOp>(isInexact, isEven);
  return a.cast(a.f32(), a.choose(adjust, neighbour, bits));
}

struct ExpandExtension : public OpRewritePattern<arith::ExtFOp> {
  ExpandExtension(MLIRContext *context, bool hasF16C) : OpRewritePattern(context), hasF16C(hasF16C) {}

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn()), to = getElementTypeOrSelf(op.getType());
    BitArithmetic a{rewriter, op.getLoc(), op.getType()};
    bool isHardware = from.isF16() && to.isF32() && hasF16C;
    if ((!from.isF16() && !from.isBF16()) || isHardware)
      return rewriter.notifyMatchFailure(op, "is an instruction of the target");
    Value wide;
    if (from.isF16() && hasF16C)
      wide = a.make<arith::ExtFOp>(a.f32(), op.getIn());
    else
      wide = from.isBF16() ? extendBF16(a, op.getIn()) : extendF16(a, op.getIn());
    if (!to.isF32())
      wide = a.make<arith::ExtFOp>(op.getType(), wide);
    rewriter.replaceOp(op, wide);
    return success();
  }
  bool hasF16C;
};

struct ExpandTruncation : public OpRewritePattern<arith::TruncFOp> {
  ExpandTruncation(MLIRContext *context, bool hasF16C) : OpRewritePattern(context), hasF16C(hasF16C) {}

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn()), to = getElementTypeOrSelf(op.getType());
    BitArithmetic a{rewriter, op.getLoc(), op.getType()};
    bool isHardware = from.isF32() && to.isF16() && hasF16C;
    if ((!to.isF16() && !to.isBF16()) || isHardware)
      return rewriter.notifyMatchFailure(op, "is an instruction of the target");
    Value wide = from.isF64() ? truncateToOddF32(a, op.getIn()) : op.getIn();
    if (to.isF16() && hasF16C)
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), wide);
    else
      rewriter.replaceOp(op,
                         to.isBF16() ? truncateToBF16(a, wide, op.getType()) : truncateToF16(a, wide, op.getType()));
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
