// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which outputs of a bufferized function may be exactly an input's buffer. Does not own the order of loads and stores
// that makes it so (codegen/cpu).

#ifndef RESID_CODEGEN_BOUNDARY_SHAREDBUFFERS_H
#define RESID_CODEGEN_BOUNDARY_SHAREDBUFFERS_H

#include "codegen/boundary/Signature.h"

namespace mlir::resid::boundary {

/// Fills signature.inPlace for `function`, the implementation on memrefs, with three kinds of pairs:
/// - The function is a single rows.kernel that reads the input at the output's own rows and columns.
/// - A kernel that reads several streams of the input alone writes the output's, each at its own place; others read
/// these after it.
/// - The input is copied to the output before anything else is done with either, and never read again: a cache that
/// grows.
///   Then the copy is left out at run time where both are one buffer.
void findSharedBuffers(func::FuncOp function, KernelSignature &signature);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_SHAREDBUFFERS_H
