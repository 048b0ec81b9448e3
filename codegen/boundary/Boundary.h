// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How entries call implementations: with pointers, scalars, row strides, and each open size once. Does not own what is
// checked before, nor how buffers are made of it (kernels/ArgumentBuffers.h).

#ifndef RESID_CODEGEN_BOUNDARY_BOUNDARY_H
#define RESID_CODEGEN_BOUNDARY_BOUNDARY_H

#include "codegen/boundary/Signature.h"

namespace mlir::resid::boundary {

/// The sizes that an implementation is given: of the size parameters (by number) the first of each class, where several
/// sizes are right, and the derived ones, which are counted on from them.
SmallVector<unsigned> getPassedSizes(const KernelSignature &signature);

/// Whether the implementation answers a status: its last parameter is the status cell then.
bool answersStatus(func::FuncOp implementation);

/// From whole buffers to the parameters: the context; of each argument and result the pointer or the scalar, and the
/// row stride of a strided one; the sizes; scratch memory and its bytes; the status cell. The last ones where they are
/// used; the status cell also where launches answer one.
void narrowBoundary(func::FuncOp implementation, const KernelSignature &signature);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_BOUNDARY_H
