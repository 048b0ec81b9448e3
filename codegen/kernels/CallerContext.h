// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel's function reads of its caller's resid_ctx, and where that lies.

#ifndef RESID_CODEGEN_KERNELS_CALLERCONTEXT_H
#define RESID_CODEGEN_KERNELS_CALLERCONTEXT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/resid.h"
#include <cstddef>
#include <cstdint>

namespace mlir::resid::kernels {

/// The places of the members of resid_ctx that generated code reads, in bytes. All targets lay it out as this machine
/// does: with pointers of 64 bits.
enum ContextOffset : int32_t {
  AbiVersion = offsetof(resid_ctx, abi_version),
  Hints = offsetof(resid_ctx, hints),
  User = offsetof(resid_ctx, user),
  ParallelFor = offsetof(resid_ctx, parallel_for),
  Alloc = offsetof(resid_ctx, alloc),
  Free = offsetof(resid_ctx, free),
};

/// The context that a function was given, which may be NULL when it runs; null of functions that are given none.
Value findContext(func::FuncOp function);

/// A member of a context that is not NULL.
Value loadMember(OpBuilder &builder, Location loc, Type type, Value context, ContextOffset offset);

/// A member where `condition` (i1) holds and the context is not NULL, else zero.
Value loadMemberIf(OpBuilder &builder, Location loc, Value condition, Type type, Value context, ContextOffset offset);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_CALLERCONTEXT_H
