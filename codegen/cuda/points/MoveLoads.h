// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the host of a device may not do, because arrays lie in the device's memory: reads and writes of single elements
// move into loop nests, which become kernels.

#ifndef RESID_CODEGEN_CUDA_POINTS_MOVELOADS_H
#define RESID_CODEGEN_CUDA_POINTS_MOVELOADS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::resid::cuda {

/// Moves loads of elements, and what is computed from them, into the loop nests that need the numbers. Makes loop nests
/// of stores of elements. What a load does not allow stays.
void moveLoads(ModuleOp module);

/// Whether an op is a condition that says whether indices lie in their arrays, and none of the program itself, which
/// cf.assert wrote.
bool isIndexCondition(Operation *op);

/// Drops conditions on numbers in memory that say whether indices lie in their arrays: a call returns before it could
/// answer. Those of programs themselves stay.
void dropIndexConditions(ModuleOp module);

/// Whether the value is computed from an element of an array.
bool isFromMemory(Value value);
/// What a scalar is computed from, in order: loads, and ops without regions. Sizes and buffers end it.
llvm::SetVector<Operation *> collectSlice(Value value);
/// Whether an element is the same before `place` as where it was loaded.
bool isSameAt(memref::LoadOp load, Operation *place);
/// A nest without loops that writes a scalar to a memref of rank 0.
void writeNumber(OpBuilder &builder, Location loc, Value number, Value place);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_POINTS_MOVELOADS_H
