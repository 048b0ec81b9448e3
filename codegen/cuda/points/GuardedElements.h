// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel does at indices outside of an array: it reads NaN (0 of integers), and writes nothing.

#ifndef RESID_CODEGEN_CUDA_POINTS_GUARDEDELEMENTS_H
#define RESID_CODEGEN_CUDA_POINTS_GUARDEDELEMENTS_H

#include "mlir/IR/Operation.h"

namespace mlir::resid::cuda {

/// Guards the loads and stores in `root` whose indices were brought inside of their arrays
/// (rows::kKeptInsideAttribute), where the CPU refuses the call.
void guardElements(Operation *root);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_POINTS_GUARDEDELEMENTS_H
