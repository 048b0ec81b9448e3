// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads sizes and strides of buffers.

#include "codegen/kernels/Extent.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;

Value kernels::constantI64(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), value);
}

Value kernels::castToI64(OpBuilder &builder, Location loc, Value value) {
  if (value.getType().isInteger(64))
    return value;
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(), value);
}

Extent kernels::makeExtent(OpBuilder &builder, Location loc, int64_t known) {
  return {arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), known), known};
}

Extent kernels::multiply(OpBuilder &builder, Location loc, Extent a, Extent b) {
  if (a.isKnown() && b.isKnown())
    return makeExtent(builder, loc, a.known * b.known);
  if (a.is(1) || b.is(0))
    return b;
  if (b.is(1) || a.is(0))
    return a;
  return {arith::MulIOp::create(builder, loc, a.value, b.value)};
}

Extent kernels::getSize(OpBuilder &builder, Location loc, Value buffer, unsigned dimension) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(dimension))
    return makeExtent(builder, loc, type.getDimSize(dimension));
  Value size = memref::DimOp::create(builder, loc, buffer, dimension);
  return {arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size)};
}

Extent kernels::getStride(OpBuilder &builder, Location loc, Value buffer, unsigned dimension) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (succeeded(type.getStridesAndOffset(strides, offset)) && !ShapedType::isDynamic(strides[dimension]))
    return makeExtent(builder, loc, strides[dimension]);
  if (type.getLayout().isIdentity()) {
    Extent stride = makeExtent(builder, loc, 1);
    for (unsigned inner = dimension + 1; inner < type.getRank(); ++inner)
      stride = multiply(builder, loc, stride, getSize(builder, loc, buffer, inner));
    return stride;
  }
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  return {arith::IndexCastOp::create(builder, loc, builder.getI64Type(), metadata.getStrides()[dimension])};
}
