// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// F_dl: a kernel's function on DLPack tensors. Checks what they say about themselves; the rest is F's.

#ifndef RESID_CODEGEN_BOUNDARY_DLPACKENTRY_H
#define RESID_CODEGEN_BOUNDARY_DLPACKENTRY_H

#include "codegen/boundary/Signature.h"
#include "llvm/IR/Module.h"

namespace mlir::resid::boundary {

/// The suffix of the function.
constexpr llvm::StringLiteral kDLPackSuffix = "_dl";
/// The helpers that all such functions of a module share.
constexpr llvm::StringLiteral kDLPackReadName = "resid.dl_read", kDLPackTextName = "resid.dl_text";

/// Adds F_dl for each kernel of `module`, which has F, and the helper.
void addDLPackEntries(llvm::Module &module, llvm::ArrayRef<KernelSignature> kernels);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_DLPACKENTRY_H
