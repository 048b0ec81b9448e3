// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What checks and refusals of all objects share, as a part of one. Does not own when a call is refused (ArrayChecks.h),
// nor the texts (RefusalText.h).

#ifndef RESID_CODEGEN_BOUNDARY_REFUSALS_H
#define RESID_CODEGEN_BOUNDARY_REFUSALS_H

#include "codegen/boundary/Signature.h"
#include "llvm/IR/Module.h"

namespace mlir::resid::boundary {

/// Links what the entries of `module` call where they check arrays and refuse. `processors`: what a processor has to
/// have.
void addRefusals(llvm::Module &module, llvm::ArrayRef<KernelSignature> kernels, llvm::StringRef processors);
/// Whether `function` checks or refuses, and so runs before the processor was asked.
bool isRefusal(const llvm::Function &function);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_REFUSALS_H
