// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The LLVM passes over a translated module. Does not own translation and code generation (Object.h).

#ifndef RESID_CODEGEN_MACHINE_OPTIMIZE_H
#define RESID_CODEGEN_MACHINE_OPTIMIZE_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::resid::machine {

/// Whether `module` has loops over single elements, which are LLVM's to optimise.
bool hasElementLoops(const llvm::Module &module);

/// Optimises without fast-math and without contraction. Functions that are loops of whole vectors already
/// (cpu::kVectorLoopsAttribute), and those that have no loops worth the time (cpu::kBriefAttribute), are cleaned up by
/// a few passes; so are all others where there is no loop over elements, and else take LLVM's O3, with its vectorisers.
/// Those that run once (cpu::kOnceAttribute) are left as they are, for code generation too.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

/// Takes off what only optimize() and the code generation of this library ask for.
void dropOwnAttributes(llvm::Module &module);

} // namespace mlir::resid::machine

#endif // RESID_CODEGEN_MACHINE_OPTIMIZE_H
