// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape and type rules that the op families share, and the checks of them that verifiers call. Owns no op.

#ifndef RESID_DIALECT_SHAPES_H
#define RESID_DIALECT_SHAPES_H

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace mlir::resid {

/// The type that arithmetic on elements of this type is done in: f64 for f64, f32 for f16, bf16 and f32.
FloatType getArithmeticType(Type elementType);

/// A float attribute as the arithmetic of this element type sees it: rounded once, to nearest even.
llvm::APFloat roundToArithmetic(const llvm::APFloat &value, Type elementType);

/// The type of a row statistic: x's shape without its last normalizedRank dimensions, in the arithmetic type.
RankedTensorType getStatisticsType(RankedTensorType x, int64_t normalizedRank);

/// What `resid.embedding` gives: the shape of the ids, and the last dimension of the table. Null where there is no such
/// type.
RankedTensorType getEmbeddedType(Type ids, Type table);

/// How many residual streams there may be.
constexpr int64_t kMaxStreams = 16;

/// One stream of several: the shape without the last dimension but one. Null where there is no such type.
RankedTensorType getStreamType(Type streams);

/// Dimensions of a tensor of this rank, 2 or more, of which the last two become one by `tensor.collapse_shape`, or come
/// from one by `tensor.expand_shape`.
SmallVector<ReassociationIndices> groupLastTwo(int64_t rank);

/// `value`, which has one stream, without the dimension of streams. Null stays null.
Value dropStream(OpBuilder &builder, Location loc, Value value);

/// `row`, of rank 1 or more, as the only stream: with a dimension of size 1 before the last one. Null stays null.
Value addStream(OpBuilder &builder, Location loc, Value row);

/// The arithmetic type of two tensors: f64 if one of them is of f64, else f32.
FloatType getWiderArithmeticType(RankedTensorType a, RankedTensorType b);

/// What `resid.project` and `resid.stream_dots` give. Null where there is no such type.
RankedTensorType getProjectedType(Type x, Type weight);
RankedTensorType getStreamDotsType(Type a, Type b);

/// What forEachEqualSize of an op calls with two dimensions that have one size.
using UniteSizes = function_ref<void(Value, int64_t, Value, int64_t)>;
/// The first `count` dimensions of `value` have the sizes of those of `whole`; all of them where no count is
/// given. A null value has none.
void uniteLeading(Value value, Value whole, int64_t count, UniteSizes unite);
void uniteLeading(Value value, Value whole, UniteSizes unite);

/// The product of a tensor's static non-zero dimensions times its element size stays within 2^47 bytes.
bool fitsByteLimit(Type tensor);

} // namespace mlir::resid

#endif // RESID_DIALECT_SHAPES_H
