// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/ElementAccess.h"

#include "codegen/kernels/ElementCast.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;

static unsigned getBytes(Type memory, Alignment alignment) {
  return alignment == Alignment::Element ? kernels::getElementBytes(memory) : 1;
}

Value kernels::getElementAddress(OpBuilder &builder, Location loc, Type type, Value pointer, Value index) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), type, pointer, ValueRange(index),
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value kernels::loadElement(OpBuilder &builder, Location loc, Type type, Value pointer, Value index,
                           Alignment alignment) {
  Type memory = kernels::getMemoryType(type);
  Value address = getElementAddress(builder, loc, memory, pointer, index);
  return fromMemory(builder, loc, LLVM::LoadOp::create(builder, loc, memory, address, getBytes(memory, alignment)),
                    type);
}

void kernels::storeElement(OpBuilder &builder, Location loc, Value value, Value pointer, Value index,
                           Alignment alignment) {
  Type memory = kernels::getMemoryType(value.getType());
  LLVM::StoreOp::create(builder, loc, toMemory(builder, loc, value, memory),
                        getElementAddress(builder, loc, memory, pointer, index), getBytes(memory, alignment));
}
