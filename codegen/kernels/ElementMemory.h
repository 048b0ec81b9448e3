// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What elements are in memory, which is not always how they are computed with: their types, and reads and writes of
// single ones. Not: where rows lie, nor reads and writes of vectors.

#ifndef RESID_CODEGEN_KERNELS_ELEMENTMEMORY_H
#define RESID_CODEGEN_KERNELS_ELEMENTMEMORY_H

#include "mlir/IR/Builders.h"
#include <cstdint>

namespace mlir::resid::kernels {

/// The type of an element in memory: whole bytes for integers (i1: one byte, which is 0 or 1), 64 bits for an index,
/// the element itself else.
Type getMemoryType(Type element);
/// Bytes from an element to the next.
int64_t getElementBytes(Type element);

/// Elements (single or in a vector) of type `element` out of what they are in memory.
Value fromMemory(OpBuilder &builder, Location loc, Value value, Type element);
/// Elements (single or in a vector) as what they are in memory, where their type is `memory`.
Value toMemory(OpBuilder &builder, Location loc, Value value, Type memory);

/// What is known of the places of elements: nothing, or that they are multiples of an element's bytes.
enum class Alignment { None, Element };

/// The place of element `index` (i64) of the elements of type `type` at `pointer`.
Value getElementAddress(OpBuilder &builder, Location loc, Type type, Value pointer, Value index);
/// Element `index` (i64) of the elements at `pointer`, which in memory have the type that getMemoryType says.
Value loadElement(OpBuilder &builder, Location loc, Type type, Value pointer, Value index, Alignment alignment);
void storeElement(OpBuilder &builder, Location loc, Value value, Value pointer, Value index, Alignment alignment);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_ELEMENTMEMORY_H
