// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers made of a pointer and what is open of their shapes, as functions are called with them. Most are asked for
// their pointer and sizes only, so that no descriptor is ever made. Does not own who passes what (boundary/Boundary.h).

#ifndef RESID_CODEGEN_KERNELS_ARGUMENTBUFFERS_H
#define RESID_CODEGEN_KERNELS_ARGUMENTBUFFERS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::resid::kernels {

/// A buffer of this type, row-major and without an offset, whose first element `pointer` points at. `sizes`: an index
/// per open dimension; `rowStride`: an i64 where the strides are open, the distance of rows in elements.
Value createArgumentBuffer(OpBuilder &builder, Location loc, MemRefType type, Value pointer, ValueRange sizes,
                           Value rowStride = nullptr);

/// The pointer that `buffer` was made of, through casts; null of other buffers.
Value findArgumentPointer(Value buffer);
/// The distance of rows that `buffer` was made with, which is the same between any two; null where it has none.
Value findArgumentRowStride(Value buffer);

/// The pointer to the element (0, …, 0) of any contiguous or strided buffer.
Value computePointer(OpBuilder &builder, Location loc, Value buffer);
/// An index.
Value computeSize(OpBuilder &builder, Location loc, Value buffer, int64_t dimension);
/// Whether the op gives a buffer another type or shape, without changing where its elements are. False of null.
bool isReshape(Operation *op);
/// The buffer which this one is but for its shape: it begins at the same element.
Value skipReshapes(Value buffer);

/// Makes descriptors of the buffers that are still used.
void createArgumentDescriptors(ModuleOp module);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_ARGUMENTBUFFERS_H
