// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The size of the last-level cache, asked of an x86 processor when code runs.

#ifndef RESID_CODEGEN_CPU_CHOICE_CACHESIZE_H
#define RESID_CODEGEN_CPU_CHOICE_CACHESIZE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::resid::cpu {

/// The bytes (i64) of the last-level cache; 32 MiB where the processor does not say. The function that asks is added to
/// the module once; it asks once per loaded object.
Value emitLastCacheBytes(OpBuilder &builder, Location loc, ModuleOp module);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_CACHESIZE_H
