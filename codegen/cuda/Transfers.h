// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies and fills of whole arrays, which the driver does without a kernel. Not: the calls themselves (Launch.h).

#ifndef RESID_CODEGEN_CUDA_TRANSFERS_H
#define RESID_CODEGEN_CUDA_TRANSFERS_H

#include "mlir/IR/Operation.h"

namespace mlir::resid::cuda {

/// Whether `op` is a memref.copy or a linalg.fill with a scalar, of arrays without gaps.
bool isTransfer(Operation *op);
/// Puts a call of the runtime in the place of a transfer.
LogicalResult lowerTransfer(Operation *op);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_TRANSFERS_H
