// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Static sizes where a dynamic one can be nothing else.

#ifndef RESID_CODEGEN_BOUNDARY_REFINESIZES_H
#define RESID_CODEGEN_BOUNDARY_REFINESIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::resid::boundary {

/// Gives tensors in the function's body the static sizes that follow from what its operations require
/// (DimensionClasses), so that a dynamic width beside a parameter of static width is one type everywhere. The
/// function's own type stays: its entry checks that callers keep to these sizes. Of a function with one block, without
/// calls.
void refineSizes(func::FuncOp function);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_REFINESIZES_H
