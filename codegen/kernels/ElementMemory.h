// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the elements of a row lie in memory, which is not always how they are computed with.

#ifndef RESID_CODEGEN_KERNELS_ELEMENTMEMORY_H
#define RESID_CODEGEN_KERNELS_ELEMENTMEMORY_H

#include "mlir/IR/Types.h"
#include <cstdint>

namespace mlir::resid::kernels {

/// The type of an element in memory: whole bytes for integers (i1: one byte, which is 0 or 1), 64 bits for an index, the
/// element itself else.
Type getMemoryType(Type element);
/// Bytes from an element to the next.
int64_t getElementBytes(Type element);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_ELEMENTMEMORY_H
