// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/Reductions.h"

#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

Value rows::toBits(OpBuilder &builder, Location loc, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return toMemory(builder, loc, value, builder.getIntegerType(element.getIntOrFloatBitWidth()));
}

/// The larger one, or a NaN if there is one. Without signs, the bits of floats have as integers the order of the
/// floats, with NaNs above infinity: one instruction, where comparing floats takes three. Signed integers, so that a -0
/// stands below all others.
static Value combineMagnitudes(OpBuilder &builder, Location loc, Value a, Value b) {
  Type element = getElementTypeOrSelf(a.getType());
  Value larger = arith::MaxSIOp::create(builder, loc, toBits(builder, loc, a), toBits(builder, loc, b));
  return fromMemory(builder, loc, larger, element);
}

Value rows::combine(OpBuilder &builder, rows::ReductionKind kind, Value accumulator, Value value) {
  Location loc = value.getLoc();
  switch (kind) {
  case rows::ReductionKind::Sum:
    return arith::AddFOp::create(builder, loc, accumulator, value);
  case rows::ReductionKind::SumOfSquares:
    return math::FmaOp::create(builder, loc, value, value, accumulator);
  case rows::ReductionKind::Max:
    return combineMagnitudes(builder, loc, accumulator, value);
  case rows::ReductionKind::SignedMax:
    return arith::MaximumFOp::create(builder, loc, accumulator, value);
  }
  llvm_unreachable("unknown kind of reduction");
}

Value rows::createNeutral(OpBuilder &builder, Location loc, rows::ReductionKind kind, Type type) {
  if (kind != rows::ReductionKind::SignedMax)
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  TypedAttr least = builder.getFloatAttr(element, APFloat::getInf(element.getFloatSemantics(), /*Negative=*/true));
  if (auto vector = dyn_cast<VectorType>(type))
    least = DenseElementsAttr::get(vector, least);
  return arith::ConstantOp::create(builder, loc, least);
}

rows::ReductionKind rows::getCombiningKind(rows::ReductionKind kind) {
  return kind == rows::ReductionKind::SumOfSquares ? rows::ReductionKind::Sum : kind;
}
