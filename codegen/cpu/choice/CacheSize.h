// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes of caches, asked of an x86 processor when code runs.

#ifndef RESID_CODEGEN_CPU_CHOICE_CACHESIZE_H
#define RESID_CODEGEN_CPU_CHOICE_CACHESIZE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::resid::cpu {

/// Bytes (i64).
struct CacheBytes {
  /// Of the second level, which a core has for itself; 1 MiB where the processor does not say.
  Value second;
  /// Of the last level, as the processor reports it: a virtual machine may have a part of it only. 32 MiB where the
  /// processor does not say.
  Value last;
};

/// The function that asks is added to the module once; it asks once per loaded object.
CacheBytes emitCacheBytes(OpBuilder &builder, Location loc, ModuleOp module);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_CACHESIZE_H
