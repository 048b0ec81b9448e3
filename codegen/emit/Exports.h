// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which functions of a translated module are visible from outside, for which processor each is compiled, and the small
// functions beside an entry that need no lowering. Does not own the entries themselves (BuildEntries.cpp).

#ifndef RESID_CODEGEN_EMIT_EXPORTS_H
#define RESID_CODEGEN_EMIT_EXPORTS_H

#include "codegen/emit/Signature.h"
#include "codegen/emit/Target.h"
#include "llvm/IR/Module.h"

namespace mlir::resid::emit {

/// Adds `F_info` for each kernel; makes everything internal but F, F_info and F_scratch_bytes, and compiles these (and
/// the check of the processor) for the baseline of the architecture, so that they can answer on any processor. With
/// `packed` also adds `F__packed(void **args)`, for calls in memory: args[i] points at the i-th C argument, the last
/// one at a resid_status that receives the answer.
void finishExports(llvm::Module &module, const TargetDescription &target, ArrayRef<KernelSignature> kernels,
                   bool packed);

} // namespace mlir::resid::emit

#endif // RESID_CODEGEN_EMIT_EXPORTS_H
