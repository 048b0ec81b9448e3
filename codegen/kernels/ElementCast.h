// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What elements are in memory, and in registers. Not: which type a memory element has (kernels/ElementMemory.h).

#ifndef RESID_CODEGEN_KERNELS_ELEMENTCAST_H
#define RESID_CODEGEN_KERNELS_ELEMENTCAST_H

#include "mlir/IR/Builders.h"

namespace mlir::resid::kernels {

/// Elements (single or in a vector) of type `element` out of what they are in memory.
Value fromMemory(OpBuilder &builder, Location loc, Value value, Type element);
/// Elements (single or in a vector) as what they are in memory, where their type is `memory`.
Value toMemory(OpBuilder &builder, Location loc, Value value, Type memory);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_ELEMENTCAST_H
