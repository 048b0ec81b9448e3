// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/ElementCast.h"

#include "codegen/builder/Code.h"

using namespace mlir;
using namespace mlir::resid;

/// `value` with elements of type `to` where they have as many bits; else null.
static Value castAmongEqualSizes(OpBuilder &builder, Location loc, Value value, Type to) {
  Type from = getElementTypeOrSelf(value.getType()), type = Code::withShape(value, to);
  if (from == to)
    return value;
  if (from.isIndex() || to.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  if (from.getIntOrFloatBitWidth() == to.getIntOrFloatBitWidth())
    return arith::BitcastOp::create(builder, loc, type, value);
  return {};
}

Value kernels::fromMemory(OpBuilder &builder, Location loc, Value value, Type element) {
  if (Value cast = castAmongEqualSizes(builder, loc, value, element))
    return cast;
  if (!element.isInteger(1))
    return arith::TruncIOp::create(builder, loc, Code::withShape(value, element), value);
  // A comparison is a mask at once, and takes any number but 0 for true, as C does.
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, zero);
}

Value kernels::toMemory(OpBuilder &builder, Location loc, Value value, Type memory) {
  if (Value cast = castAmongEqualSizes(builder, loc, value, memory))
    return cast;
  return arith::ExtUIOp::create(builder, loc, Code::withShape(value, memory), value);
}
