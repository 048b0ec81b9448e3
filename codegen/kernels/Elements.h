// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place that turns elementwise operations on scalars into those on columns. Not: memory and loops.

#ifndef RESID_CODEGEN_KERNELS_ELEMENTS_H
#define RESID_CODEGEN_KERNELS_ELEMENTS_H

#include "mlir/IR/Builders.h"

namespace mlir::resid::kernels {

/// Elementwise operation `op` of a program of scalars on vectors of `lanes` columns. A constant becomes the same on all
/// of them.
ResultRange emitElements(OpBuilder &builder, Operation *op, ValueRange operands, int64_t lanes);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_ELEMENTS_H
