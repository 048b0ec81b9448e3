// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The LLVM passes over a translated module. Does not own translation and code generation (Object.h).

#ifndef RESID_CODEGEN_EMIT_OPTIMIZE_H
#define RESID_CODEGEN_EMIT_OPTIMIZE_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::resid::emit {

/// Optimises without fast-math and without contraction. Functions that are loops of whole vectors already
/// (cpu::kVectorLoopsAttribute), and those that have no loops worth the time (cpu::kBriefAttribute), are cleaned up by a
/// few passes; all others take LLVM's O3, with its vectorisers. Takes these attributes off.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace mlir::resid::emit

#endif // RESID_CODEGEN_EMIT_OPTIMIZE_H
