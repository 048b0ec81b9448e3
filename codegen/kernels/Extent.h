// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extents of buffers, which may be known: sizes and strides. Not: of which loops they are.

#ifndef RESID_CODEGEN_KERNELS_EXTENT_H
#define RESID_CODEGEN_KERNELS_EXTENT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::resid::kernels {

/// `value` as i64, whatever integer or index it is.
Value castToI64(OpBuilder &builder, Location loc, Value value);
/// An i64 constant.
Value constantI64(OpBuilder &builder, Location loc, int64_t value);

/// A size or stride: an i64 value, and the number where it is known.
struct Extent {
  Value value;
  int64_t known = ShapedType::kDynamic;

  bool isKnown() const { return !ShapedType::isDynamic(known); }
  bool is(int64_t number) const { return known == number; }
};

Extent makeExtent(OpBuilder &builder, Location loc, int64_t known);
/// The product of numbers.
Extent multiply(OpBuilder &builder, Location loc, Extent a, Extent b);

/// Of a buffer, one dimension's size, and its stride in elements. Strides of a row-major layout are known as far as
/// sizes are.
Extent getSize(OpBuilder &builder, Location loc, Value buffer, unsigned dimension);
Extent getStride(OpBuilder &builder, Location loc, Value buffer, unsigned dimension);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_EXTENT_H
