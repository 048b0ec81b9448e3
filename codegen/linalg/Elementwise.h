// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the lowering builds elementwise linalg ops: shapes, maps, and the conversions between storage and arithmetic
// type.

#ifndef RESID_CODEGEN_LINALG_ELEMENTWISE_H
#define RESID_CODEGEN_LINALG_ELEMENTWISE_H

#include "codegen/builder/Code.h"
#include "dialect/Shapes.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::resid {

/// One tensor that an elementwise op reads, with the map from the loops to its dimensions. The tensor may be null: an
/// absent optional operand.
struct ElementwiseOperand {
  Value tensor;
  AffineMap map;
};

/// The computation on one element: gets one value per operand, floats already in the arithmetic type, null for absent
/// operands; gives one value per result, in the arithmetic type or an integer of the result's type.
using ElementwiseBody = function_ref<SmallVector<Value>(Code &builder, ValueRange elements)>;

/// Builds one `linalg.generic` that rounds each result to its storage type once. The loops are the dimensions of the
/// results, whose sizes are `sizes`. Arithmetic is in `arithmeticType`.
SmallVector<Value> createElementwise(Code &builder, ArrayRef<ElementwiseOperand> operands, ArrayRef<OpFoldResult> sizes,
                                     TypeRange resultTypes, FloatType arithmeticType, ElementwiseBody body);

/// The computation of a single result.
using TermBody = function_ref<Value(Code &builder, ValueRange elements)>;
Value createElementwise(Code &builder, ArrayRef<ElementwiseOperand> operands, ArrayRef<OpFoldResult> sizes,
                        Type resultType, FloatType arithmeticType, TermBody body);
/// An element as it is.
inline Value takeElement(Code &, ValueRange elements) { return elements.front(); }

/// The sizes of a tensor, read where they come from: never from the result of an elementwise op.
SmallVector<OpFoldResult> getSizes(Code &builder, Value tensor);

/// A size as an i64.
Value toI64(Code &builder, OpFoldResult size);

/// A float constant, rounded once to `type`.
Value createConstant(Code &builder, FloatType type, const APFloat &value);
Value createConstant(Code &builder, FloatType type, double value);

/// Maps from the loops over a tensor of rank `rank`: to all dimensions, to those before the last `columns`, to these.
AffineMap getIdentityMap(MLIRContext *context, int64_t rank);
AffineMap getRowMap(MLIRContext *context, int64_t rank, int64_t columns);
AffineMap getColumnMap(MLIRContext *context, int64_t rank, int64_t columns);

/// NumPy broadcasting of `type` to `shape`, where only a static 1 broadcasts.
AffineMap getBroadcastMap(RankedTensorType type, ArrayRef<int64_t> shape);

} // namespace mlir::resid

#endif // RESID_CODEGEN_LINALG_ELEMENTWISE_H
