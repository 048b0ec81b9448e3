// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code that each object carries, since it can have no library: the C sources of shared/ as LLVM IR, which the build
// makes with the clang of the same LLVM.

#ifndef RESID_CODEGEN_BOUNDARY_SHAREDCODE_H
#define RESID_CODEGEN_BOUNDARY_SHAREDCODE_H

#include "llvm/IR/Module.h"

namespace mlir::resid::boundary {

/// Links the functions of shared/`source`.c into `module`, where `resid.` comes before their names there. They are in
/// good form as they are, so they are no reason to optimise a module as one with loops over elements.
void linkSharedCode(llvm::Module &module, llvm::StringRef source);

/// Whether the function of this name is one of them. They run before the processor was asked.
bool isSharedCode(llvm::StringRef name);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_SHAREDCODE_H
