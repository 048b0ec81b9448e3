// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays of i4 as arguments. In C they are bytes: element 2i of the last dimension is in the low half of a byte, and
// element 2i + 1 in the high half. Not: arrays inside of a program, which have a byte for each element.

#ifndef RESID_CODEGEN_BOUNDARY_NIBBLES_H
#define RESID_CODEGEN_BOUNDARY_NIBBLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::resid::boundary {

/// Whether the type is a tensor of i4.
bool isNibbleTensor(Type type);

/// The bytes of a tensor of i4: i8, and half the last dimension. Null where that is odd, or where there is none.
RankedTensorType getByteTensor(RankedTensorType type);

/// Takes the bytes in the place of each argument of i4, and unpacks them where the function begins. Types of arguments
/// have been verified (verifyInterfaceTypes).
void unpackNibbles(func::FuncOp function);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_NIBBLES_H
