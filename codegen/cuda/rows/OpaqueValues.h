// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of which LLVM knows nothing.

#ifndef RESID_CODEGEN_CUDA_ROWS_OPAQUEVALUES_H
#define RESID_CODEGEN_CUDA_ROWS_OPAQUEVALUES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::resid::cuda {

/// The same value, an i32, i64 or f32, behind an empty piece of assembly. LLVM neither moves what is computed from it
/// to before this place, nor takes it for what was computed from the value before.
Value makeOpaque(OpBuilder &builder, Value value);

/// A special register of PTX (i32), such as `%tid.x`, read at this place. Unlike a number that was read before and made
/// opaque, it is in no register until then.
Value readAnew(OpBuilder &builder, Location loc, StringRef name);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_OPAQUEVALUES_H
