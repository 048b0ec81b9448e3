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

/// Optimises without fast-math and without contraction. A few passes clean up functions that are loops of whole vectors
/// already (cpu::kVectorLoopsAttribute), and functions without loops worth the time (cpu::kBriefAttribute). All other
/// functions get LLVM's O3 with its vectorisers if the module has a loop over elements, and else the few passes too.
/// Functions that run once (cpu::kOnceAttribute) are left as they are, for code generation too.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

/// Takes off what only optimize() and the code generation of this library ask for.
void dropOwnAttributes(llvm::Module &module);

} // namespace mlir::resid::machine

#endif // RESID_CODEGEN_MACHINE_OPTIMIZE_H
