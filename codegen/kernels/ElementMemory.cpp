// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/ElementMemory.h"

#include "codegen/builder/Code.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;

Type kernels::getMemoryType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return element;
  // As LLVM lays out arrays of integers.
  uint64_t bits = std::max<uint64_t>(8, llvm::PowerOf2Ceil(integer.getWidth()));
  return bits == integer.getWidth() ? element : IntegerType::get(element.getContext(), bits);
}

int64_t kernels::getElementBytes(Type element) { return getMemoryType(element).getIntOrFloatBitWidth() / 8; }

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

static unsigned getBytes(Type memory, Alignment alignment) {
  return alignment == Alignment::Element ? getElementBytes(memory) : 1;
}

Value kernels::getElementAddress(OpBuilder &builder, Location loc, Type type, Value pointer, Value index) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), type, pointer, ValueRange(index),
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value kernels::loadElement(OpBuilder &builder, Location loc, Type type, Value pointer, Value index,
                           Alignment alignment) {
  Type memory = getMemoryType(type);
  Value address = getElementAddress(builder, loc, memory, pointer, index);
  return fromMemory(builder, loc, LLVM::LoadOp::create(builder, loc, memory, address, getBytes(memory, alignment)),
                    type);
}

void kernels::storeElement(OpBuilder &builder, Location loc, Value value, Value pointer, Value index,
                           Alignment alignment) {
  Type memory = getMemoryType(value.getType());
  LLVM::StoreOp::create(builder, loc, toMemory(builder, loc, value, memory),
                        getElementAddress(builder, loc, memory, pointer, index), getBytes(memory, alignment));
}
