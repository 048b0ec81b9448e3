// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whose a buffer is, and which buffers of an operation have no byte in common. Not: what is made of that knowledge.

#ifndef RESID_CODEGEN_KERNELS_DISJOINTBUFFERS_H
#define RESID_CODEGEN_KERNELS_DISJOINTBUFFERS_H

#include "mlir/IR/Value.h"

namespace mlir::resid::kernels {

/// A unit attribute on a view of scratch memory: it is the place of a temporary. Such places may overlap, but never two
/// that one operation is given, since both are needed then. On an argument of a function: it is such a place too.
constexpr llvm::StringLiteral kTemporaryAttribute = "rows.temporary";

/// Whether two buffers that one operation is given are known to have no byte in common. Reads who made them: an
/// allocation, a temporary's place, a constant, an argument; an argument is one of its own where it is `llvm.noalias`.
/// Parts of one buffer are told apart by their numbers.
bool areDisjoint(Value a, Value b);

/// Whether a buffer is one that the caller of the program gave. Others are temporaries and constants.
bool isOfCaller(Value buffer);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_DISJOINTBUFFERS_H
