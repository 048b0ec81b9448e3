// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes, byte counts and extents of a kernel's arrays as i64 values, from its size parameters and row strides.

#ifndef RESID_CODEGEN_BOUNDARY_ARRAYSIZES_H
#define RESID_CODEGEN_BOUNDARY_ARRAYSIZES_H

#include "codegen/boundary/Signature.h"
#include "codegen/builder/Code.h"

namespace mlir::resid::boundary {

/// The value of an expression as i64, whose `size` gives the sizes, whatever they are. Never traps; sets `fault` where
/// sizes within the limit have no value, and where the fault was set already.
Value emitSize(Code &builder, SizeExpr expression, llvm::function_ref<Value(unsigned)> size, Value &fault);

/// The value as an index in an implementation, whose arguments are `buffers`; its entry found that there is one.
Value emitIndex(OpBuilder &builder, Location loc, SizeExpr expression, const KernelSignature &signature,
                ValueRange buffers);

class ArraySizes {
public:
  /// `sizes`: one i64 value per size parameter. What follows from them is computed here.
  ArraySizes(Code &builder, const KernelSignature &signature, ValueRange sizes);

  /// The size of one dimension, as KernelValue::shape encodes it, from the first of the parameters that must be equal:
  /// only where faults() is false.
  Value dimension(int64_t code) { return getSize(signature.getSharedSize(code)); }
  /// One i64 value per derived size; right only where faults() is false.
  ValueRange getDerivedSizes() const { return derivedSizes; }
  /// The shape by KernelSignature::getSharedSize.
  SmallVector<int64_t> getSharedShape(const KernelValue &array) const;
  /// Whether a size among `shape` is 0, each taken as its own parameter says.
  Value isEmpty(ArrayRef<int64_t> shape);
  /// The bytes of the array's elements; only where faults() is false.
  Value bytes(const KernelValue &array);
  /// The bytes of one row of a strided array (its width).
  Value rowBytes(const KernelValue &array);
  /// The bytes between two rows of a strided array that begin next to each other.
  Value strideBytes(const KernelValue &array, Value stride);
  /// The bytes from the first element to the end of the last, of an array that has elements; `stride` is null for
  /// contiguous arrays.
  Value extent(const KernelValue &array, Value stride);
  /// Whether the sizes are wrong: negative, in disagreement, or more than 2^47 bytes in one array.
  Value faults();
  /// Whether the array has more than 2^47 bytes.
  Value bytesFault(const KernelValue &array);
  /// Whether the row stride is wrong: less than the width, or such that the rows span more than 2^47 bytes.
  Value strideFault(const KernelValue &array, Value stride);
  /// The value of an expression over size parameters; sets `fault` where evaluateSize() gives none.
  Value evaluate(SizeExpr expression, Value &fault);
  /// Sets `fault` where value · factor (both at least 0) is beyond the limit of bytes, and gives the product.
  Value multiplyChecked(Value value, Value factor, Value &fault);

private:
  Value getSize(int64_t code);
  Value product(int64_t fixed, ArrayRef<int64_t> shape);
  /// Sets `fault` where fixed · sizes is beyond the limit of bytes, and gives the product; a zero counts as a one, so
  /// that the order of dimensions does not matter.
  Value productChecked(int64_t fixed, ArrayRef<int64_t> shape, Value &fault);
  /// Sets `fault` where an array is beyond the limit of bytes, or a size is negative.
  void checkBytes(Value &fault);

  Code &builder;
  const KernelSignature &signature;
  ValueRange sizes;
  SmallVector<Value> derivedSizes;
  /// Whether a derived size cannot be computed, or what must be equal is not.
  Value derivationFault;
};

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_ARRAYSIZES_H
