// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/StatisticsArithmetic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

StatisticsArithmetic::StatisticsArithmetic(FloatType type, const APFloat &epsilon) : type(type), epsilon(epsilon) {
  bool losesInfo;
  this->epsilon.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
}

Value StatisticsArithmetic::createConstant(ImplicitLocOpBuilder &builder, double value) const {
  return builder.create<arith::ConstantOp>(builder.getFloatAttr(type, value));
}

Value StatisticsArithmetic::isFinite(ImplicitLocOpBuilder &builder, ValueRange values) const {
  Value all;
  for (Value value : values) {
    Value infinity = createConstant(builder, std::numeric_limits<double>::infinity());
    Value magnitude = math::AbsFOp::create(builder, value);
    Value finite = arith::CmpFOp::create(builder, arith::CmpFPredicate::OLT, magnitude, infinity);
    all = all ? Value(arith::AndIOp::create(builder, all, finite)) : finite;
  }
  return all;
}

Value StatisticsArithmetic::needsScale(ImplicitLocOpBuilder &builder, ValueRange means) const {
  Value usable = isFinite(builder, means);
  if (epsilon.isZero()) {
    Value tiny = createConstant(builder, 0x1p-100);
    Value large = arith::CmpFOp::create(builder, arith::CmpFPredicate::UGE, means.back(), tiny);
    usable = arith::AndIOp::create(builder, usable, large);
  }
  Value yes = arith::ConstantIntOp::create(builder, 1, 1);
  return arith::XOrIOp::create(builder, usable, yes);
}

/// From the exponent bits of `size`: biased exponent b becomes 2·bias - b. Where that is 0, the power is the subnormal
/// half of the smallest normal number; where `size` is subnormal or 0, the largest power of two stands in.
Value StatisticsArithmetic::createPowerOfTwo(ImplicitLocOpBuilder &builder, Value size) const {
  bool isDouble = type.isF64();
  Type bitsType = builder.getIntegerType(isDouble ? 64 : 32);
  int64_t mantissa = isDouble ? 52 : 23, twiceBias = isDouble ? 2046 : 254;
  auto constant = [&](int64_t value) {
    return builder.create<arith::ConstantOp>(builder.getIntegerAttr(bitsType, value));
  };
  Value bits = arith::BitcastOp::create(builder, bitsType, size);
  Value exponent = arith::ShRUIOp::create(builder, bits, constant(mantissa));
  Value mirrored = arith::SubIOp::create(builder, constant(twiceBias), exponent);
  Value shifted = arith::ShLIOp::create(builder, mirrored, constant(mantissa));
  Value power = arith::MaxUIOp::create(builder, shifted, constant(int64_t(1) << (mantissa - 1)));
  return arith::BitcastOp::create(builder, type, power);
}

Value StatisticsArithmetic::isDirect(ImplicitLocOpBuilder &builder, Value e, Value q) const {
  Value square = arith::MulFOp::create(builder, e, e);
  Value quarter = arith::MulFOp::create(builder, q, createConstant(builder, 0.25));
  Value small = arith::CmpFOp::create(builder, arith::CmpFPredicate::OLE, square, quarter);
  return arith::AndIOp::create(builder, isFinite(builder, q), small);
}

Value StatisticsArithmetic::createDirectVariance(ImplicitLocOpBuilder &builder, Value e, Value q) const {
  Value negated = arith::NegFOp::create(builder, e);
  return math::FmaOp::create(builder, negated, e, q);
}

Value StatisticsArithmetic::createReciprocalRoot(ImplicitLocOpBuilder &builder, Value variance, Value scale) const {
  Value sum = variance;
  if (!epsilon.isZero()) {
    Value offset = builder.create<arith::ConstantOp>(builder.getFloatAttr(type, epsilon));
    // One factor at a time: scale² alone could leave the range.
    offset = arith::MulFOp::create(builder, arith::MulFOp::create(builder, offset, scale), scale);
    Value smallest = builder.create<arith::ConstantOp>(
        builder.getFloatAttr(type, APFloat::getSmallestNormalized(type.getFloatSemantics())));
    Value vanishes = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, offset, createConstant(builder, 0.0));
    offset = arith::SelectOp::create(builder, vanishes, smallest, offset);
    sum = arith::AddFOp::create(builder, variance, offset);
  }
  Value root = math::SqrtOp::create(builder, sum);
  return arith::DivFOp::create(builder, createConstant(builder, 1.0), root);
}

SmallVector<Value> StatisticsArithmetic::createStored(ImplicitLocOpBuilder &builder, Value scale, Value k, Value e,
                                                      Value rstd) const {
  Value mean = arith::AddFOp::create(builder, k, e);
  Value correction = arith::AddFOp::create(builder, arith::SubFOp::create(builder, k, mean), e);
  return {arith::DivFOp::create(builder, mean, scale), arith::DivFOp::create(builder, correction, scale),
          arith::MulFOp::create(builder, rstd, scale)};
}
