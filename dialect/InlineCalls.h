// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls by name to the bodies of their callees.

#ifndef RESID_DIALECT_INLINECALLS_H
#define RESID_DIALECT_INLINECALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::resid {

/// Puts the bodies of callees, and of what they call, in the place of the calls of the function; callees stay as they
/// are. A callee without a body or with several blocks, and recursion, are errors at the call.
LogicalResult inlineCalls(func::FuncOp function);

} // namespace mlir::resid

#endif // RESID_DIALECT_INLINECALLS_H
