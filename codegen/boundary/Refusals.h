// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions to which F and F_dl go where they refuse: they hand a line of text to resid_ctx.log and answer the
// status. Nothing of them runs where a call is good. Does not own the texts (RefusalProgram.h).

#ifndef RESID_CODEGEN_BOUNDARY_REFUSALS_H
#define RESID_CODEGEN_BOUNDARY_REFUSALS_H

#include "codegen/boundary/RefusalProgram.h"
#include "llvm/IR/Module.h"

namespace mlir::resid::boundary {

/// Behind the name of F: the function for its arrays. It takes the context, the parameters of ParameterWords in their
/// order, and the status.
constexpr llvm::StringLiteral kRefuseArraysSuffix = ".refuse_arrays";
/// Behind the name of F: the function for all else. It takes the context, a packed refusal, and the value (i64).
constexpr llvm::StringLiteral kRefuseValueSuffix = ".refuse_value";
/// The function of an object that makes and hands over the line (Refuse.ll).
constexpr llvm::StringLiteral kRefuseName = "resid.refuse";
/// How the names of all functions in Refuse.ll begin.
constexpr llvm::StringLiteral kSharedRefusalPrefix = "resid.refuse";

/// Gives those of these functions that are called in `module` their bodies, and links what they share.
void addRefusals(llvm::Module &module, llvm::ArrayRef<KernelSignature> kernels, llvm::StringRef processors);
/// A constant of the module with the bytes of a program.
llvm::Constant *addProgram(llvm::Module &module, const RefusalProgram &program);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_REFUSALS_H
