// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer is a cast from what it is made of: the pointer, the open sizes, the row stride if there is one.

#include "codegen/kernels/ArgumentBuffers.h"

#include "codegen/kernels/ElementMemory.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;

Value kernels::createArgumentBuffer(OpBuilder &builder, Location loc, MemRefType type, Value pointer, ValueRange sizes,
                                    Value rowStride) {
  assert(sizes.size() == type.getNumDynamicDims() && "expected a size per open dimension");
  SmallVector<Value> fields = {pointer};
  llvm::append_range(fields, sizes);
  if (rowStride)
    fields.push_back(rowStride);
  return UnrealizedConversionCastOp::create(builder, loc, type, fields).getResult(0);
}

static UnrealizedConversionCastOp findFields(Value buffer) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  auto fields = buffer.getDefiningOp<UnrealizedConversionCastOp>();
  bool isBuffer =
      fields && isa<MemRefType>(buffer.getType()) && isa<LLVM::LLVMPointerType>(fields.getOperands().front().getType());
  return isBuffer ? fields : UnrealizedConversionCastOp();
}

static Value getRowStride(UnrealizedConversionCastOp fields) {
  auto type = cast<MemRefType>(fields.getResult(0).getType());
  bool hasStride = fields.getNumOperands() > 1 + type.getNumDynamicDims();
  return hasStride ? fields.getOperands().back() : Value();
}

Value kernels::findArgumentPointer(Value buffer) {
  UnrealizedConversionCastOp fields = findFields(buffer);
  return fields ? fields.getOperands().front() : Value();
}

Value kernels::findArgumentRowStride(Value buffer) {
  UnrealizedConversionCastOp fields = findFields(buffer);
  return fields ? getRowStride(fields) : Value();
}

bool kernels::isReshape(Operation *op) {
  return isa_and_present<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(op);
}

Value kernels::skipReshapes(Value buffer) {
  while (isReshape(buffer.getDefiningOp()))
    buffer = buffer.getDefiningOp()->getOperand(0);
  return buffer;
}

Value kernels::computePointer(OpBuilder &builder, Location loc, Value buffer) {
  buffer = skipReshapes(buffer);
  if (Value pointer = findArgumentPointer(buffer))
    return pointer;
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  auto toI64 = [&](Value index) { return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(), index); };
  if (auto view = buffer.getDefiningOp<memref::ViewOp>()) {
    Value start = computePointer(builder, loc, view.getSource());
    return LLVM::GEPOp::create(builder, loc, pointerType, builder.getI8Type(), start,
                               ValueRange(toI64(view.getByteShift())), LLVM::GEPNoWrapFlags::inbounds);
  }
  auto type = cast<MemRefType>(buffer.getType());
  Value aligned = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  Value pointer = LLVM::IntToPtrOp::create(builder, loc, pointerType, toI64(aligned));
  SmallVector<int64_t> strides;
  int64_t offset;
  if (succeeded(type.getStridesAndOffset(strides, offset)) && offset == 0)
    return pointer;
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  return LLVM::GEPOp::create(builder, loc, pointerType, kernels::getMemoryType(type.getElementType()), pointer,
                             ValueRange(toI64(metadata.getOffset())), LLVM::GEPNoWrapFlags::inbounds);
}

Value kernels::computeSize(OpBuilder &builder, Location loc, Value buffer, int64_t dimension) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(dimension))
    return arith::ConstantIndexOp::create(builder, loc, type.getDimSize(dimension));
  if (UnrealizedConversionCastOp fields = findFields(buffer))
    if (fields.getResult(0).getType() == type)
      return fields.getOperand(1 + type.getDynamicDimIndex(dimension));
  return builder.createOrFold<memref::DimOp>(loc, buffer, dimension);
}

static void createDescriptor(UnrealizedConversionCastOp fields, const LLVMTypeConverter &types) {
  OpBuilder builder(fields);
  Location loc = fields.getLoc();
  auto type = cast<MemRefType>(fields.getResult(0).getType());
  auto number = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), builder.getI64IntegerAttr(value));
  };
  SmallVector<Value> sizes;
  auto open = fields.getOperands().drop_front();
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(number(size));
      continue;
    }
    sizes.push_back(arith::IndexCastOp::create(builder, loc, builder.getI64Type(), open.front()));
    open = open.drop_front();
  }
  auto descriptor = MemRefDescriptor::poison(builder, loc, types.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, fields.getOperands().front());
  descriptor.setAlignedPtr(builder, loc, fields.getOperands().front());
  descriptor.setConstantOffset(builder, loc, 0);
  Value stride = number(1), rowStride = getRowStride(fields);
  for (int64_t dimension = type.getRank() - 1; dimension >= 0; --dimension) {
    descriptor.setSize(builder, loc, dimension, sizes[dimension]);
    descriptor.setStride(builder, loc, dimension, stride);
    bool isRow = rowStride && dimension + 1 == type.getRank();
    stride = isRow ? rowStride : LLVM::MulOp::create(builder, loc, stride, sizes[dimension]);
  }
  fields.getInputsMutable().assign(Value(descriptor));
}

void kernels::createArgumentDescriptors(ModuleOp module) {
  LLVMTypeConverter types(module.getContext());
  module.walk([&](UnrealizedConversionCastOp fields) {
    if (!findFields(fields.getResult(0)))
      return;
    if (fields.use_empty())
      fields.erase();
    else
      createDescriptor(fields, types);
  });
}
