// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel's function reads of its caller's resid_ctx. Not: where the members lie (ContextOffsets.h).

#ifndef RESID_CODEGEN_KERNELS_CALLERCONTEXT_H
#define RESID_CODEGEN_KERNELS_CALLERCONTEXT_H

#include "codegen/kernels/ContextOffsets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::resid::kernels {

/// The context that a function was given, which may be NULL when it runs; null of functions that are given none.
Value findContext(func::FuncOp function);

/// A member of a context that is not NULL.
Value loadMember(OpBuilder &builder, Location loc, Type type, Value context, ContextOffset offset);

/// A member where `condition` (i1) holds and the context is not NULL, else zero.
Value loadMemberIf(OpBuilder &builder, Location loc, Value condition, Type type, Value context, ContextOffset offset);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_CALLERCONTEXT_H
