// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/StatisticsArithmetic.h"

#include <limits>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

StatisticsArithmetic::StatisticsArithmetic(FloatType type, const APFloat &epsilon) : type(type), epsilon(epsilon) {
  bool losesInfo;
  this->epsilon.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
}

Value StatisticsArithmetic::isFinite(Code &builder, ValueRange values) const {
  Value all;
  for (Value value : values) {
    Value finite = builder.isBelow(builder.absolute(value), std::numeric_limits<double>::infinity());
    all = all ? builder.both(all, finite) : finite;
  }
  return all;
}

Value StatisticsArithmetic::needsScale(Code &builder, ValueRange means, double leastEpsilon) const {
  Value usable = isFinite(builder, means);
  if (epsilon.convertToDouble() < leastEpsilon)
    usable = builder.both(usable, builder.compare(arith::CmpFPredicate::UGE, means.back(), 0x1p-100));
  return builder.exclusiveOr(usable, true);
}

/// From the exponent bits of `size`: biased exponent b becomes 2·bias - b. Where that is 0, the power is the subnormal
/// half of the smallest normal number; where `size` is subnormal or 0, the largest power of two stands in.
Value StatisticsArithmetic::createPowerOfTwo(Code &builder, Value size) const {
  bool isDouble = type.isF64();
  int64_t mantissa = isDouble ? 52 : 23, twiceBias = isDouble ? 2046 : 254;
  Value exponent = builder.shiftRight(builder.bits(size), mantissa);
  Value shifted = builder.shiftLeft(builder.subtract(twiceBias, exponent), mantissa);
  Value least = builder.constant(shifted.getType(), int64_t(1) << (mantissa - 1));
  return builder.fromBits(builder.create<arith::MaxUIOp>(shifted, least));
}

Value StatisticsArithmetic::isDirect(Code &builder, Value e, Value q) const {
  Value square = builder.multiply(e, e);
  Value small = builder.compare(arith::CmpFPredicate::OLE, square, builder.multiply(q, 0.25));
  return builder.both(isFinite(builder, q), small);
}

Value StatisticsArithmetic::createDirectVariance(Code &builder, Value e, Value q) const {
  return builder.fma(builder.negate(e), e, q);
}

Value StatisticsArithmetic::createReciprocalRoot(Code &builder, Value variance, Value scale) const {
  if (!epsilon.isZero()) {
    Value offset = builder.create<arith::ConstantOp>(builder.getFloatAttr(type, epsilon));
    // One factor at a time: scale² alone could leave the range.
    offset = builder.multiply(builder.multiply(offset, scale), scale);
    Value smallest = builder.create<arith::ConstantOp>(
        builder.getFloatAttr(type, APFloat::getSmallestNormalized(type.getFloatSemantics())));
    variance = builder.add(variance, builder.select(builder.isEqual(offset, 0.0), smallest, offset));
  }
  return builder.divide(1.0, builder.squareRoot(variance));
}

Value StatisticsArithmetic::createReciprocalLength(Code &builder, Value squares, Value scale) const {
  Value least = builder.create<arith::ConstantOp>(builder.getFloatAttr(type, epsilon));
  least = builder.multiply(least, scale);
  Value length = builder.create<arith::MaximumFOp>(builder.squareRoot(squares), least);
  return builder.divide(1.0, length);
}

SmallVector<Value> StatisticsArithmetic::createStored(Code &builder, Value scale, Value k, Value e, Value rstd) const {
  Value mean = builder.add(k, e);
  Value correction = builder.add(builder.subtract(k, mean), e);
  return {builder.divide(mean, scale), builder.divide(correction, scale), builder.multiply(rstd, scale)};
}
