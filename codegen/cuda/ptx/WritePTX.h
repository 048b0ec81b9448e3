// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a module in the LLVM and NVVM dialects to PTX. Not: how a driver gets it (Images.h).

#ifndef RESID_CODEGEN_CUDA_PTX_WRITEPTX_H
#define RESID_CODEGEN_CUDA_PTX_WRITEPTX_H

#include "codegen/cuda/ptx/Chip.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::resid::cuda {

/// The PTX of a module for one chip. Empty after an error was reported at the module.
std::string writePTX(ModuleOp module, const Chip &chip);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PTX_WRITEPTX_H
