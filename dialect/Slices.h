// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slices of tensors that may have no elements, and slices that have no element in common. MLIR takes none along a
// dimension whose static size is 0, since every offset is out of bounds there.

#ifndef RESID_DIALECT_SLICES_H
#define RESID_DIALECT_SLICES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::resid {

using SliceNumbers = llvm::ArrayRef<OpFoldResult>;

/// Whether the type says that there are no elements.
bool hasNoElements(Type tensor);

/// The slice of `from`, of this type or, if that is null, of the one that follows from the sizes. A tensor without
/// elements stands for one that has none.
Value extractSlice(OpBuilder &builder, Location loc, RankedTensorType type, Value from, SliceNumbers offsets,
                   SliceNumbers sizes, SliceNumbers strides);

/// `into` with the slice; as it is where that has no elements.
Value insertSlice(OpBuilder &builder, Location loc, Value slice, Value into, SliceNumbers offsets, SliceNumbers sizes,
                  SliceNumbers strides);

/// Whether constants say that two slices of one tensor or buffer have no element in common.
bool areApart(OffsetSizeAndStrideOpInterface a, OffsetSizeAndStrideOpInterface b);

} // namespace mlir::resid

#endif // RESID_DIALECT_SLICES_H
