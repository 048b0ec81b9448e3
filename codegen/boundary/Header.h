// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of the C header of compiled functions.

#ifndef RESID_CODEGEN_BOUNDARY_HEADER_H
#define RESID_CODEGEN_BOUNDARY_HEADER_H

#include "codegen/boundary/Signature.h"

namespace mlir::resid::boundary {

/// A self-contained header, valid C11 and C++11, that declares all of `kernels` and carries the shared declarations of
/// runtime/resid.h. Where there are several `cpus` (the best first), it says that one is chosen.
std::string writeHeader(ArrayRef<KernelSignature> kernels, ArrayRef<std::string> cpus);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_HEADER_H
