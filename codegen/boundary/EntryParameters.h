// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a C function F takes, and where each of its arrays, sizes and scalars comes from: a parameter, or a member of
// the struct of weights. Does not own what is checked about them (ArrayChecks.h).

#ifndef RESID_CODEGEN_BOUNDARY_ENTRYPARAMETERS_H
#define RESID_CODEGEN_BOUNDARY_ENTRYPARAMETERS_H

#include "codegen/boundary/EntryCode.h"

namespace mlir::resid::boundary {

/// The type of F: the context, its arguments and its results.
FunctionType getEntryType(const KernelSignature &signature, OpBuilder &builder);

/// Fills `code.arguments` and `code.results` from the parameters after the context, and gives the sizes among them. A
/// struct of weights is refused where it is NULL; else its members are loaded.
SmallVector<Value> collectParameters(EntryCode &code);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_ENTRYPARAMETERS_H
