// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The differentiation of one function, whose calls and blocks are expanded. Does not own which function that is, nor
// what the new ones are called (Grad.cpp).

#ifndef RESID_PASSES_GRAD_DIFFERENTIATION_H
#define RESID_PASSES_GRAD_DIFFERENTIATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace mlir::resid {

/// Makes the forward, a copy of the function, give what the backward reads, and makes the backward after it:
/// `backward` is its name. In the other mode the forward becomes both, and there is no such name. `wrt` are the
/// arguments whose gradients are made.
LogicalResult differentiate(func::FuncOp forward, StringRef backward, ArrayRef<unsigned> wrt, GradMode mode,
                            GradSave save);

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_DIFFERENTIATION_H
