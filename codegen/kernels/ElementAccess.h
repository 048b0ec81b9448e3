// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes single elements. Not: vectors of them, nor which type an element has in memory
// (kernels/ElementMemory.h).

#ifndef RESID_CODEGEN_KERNELS_ELEMENTACCESS_H
#define RESID_CODEGEN_KERNELS_ELEMENTACCESS_H

#include "mlir/IR/Builders.h"

namespace mlir::resid::kernels {

/// What is known of the places of elements: nothing, or that they are multiples of an element's bytes.
enum class Alignment { None, Element };

/// The place of element `index` (i64) of the elements of type `type` at `pointer`.
Value getElementAddress(OpBuilder &builder, Location loc, Type type, Value pointer, Value index);
/// Element `index` (i64) of the elements at `pointer`, which in memory have the type that kernels::getMemoryType says.
Value loadElement(OpBuilder &builder, Location loc, Type type, Value pointer, Value index, Alignment alignment);
void storeElement(OpBuilder &builder, Location loc, Value value, Value pointer, Value index, Alignment alignment);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_ELEMENTACCESS_H
