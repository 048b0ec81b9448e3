// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code from PTX, by NVIDIA's ptxas, ahead of time. Without it, the driver does the same when kernels are
// loaded.

#ifndef RESID_CODEGEN_CUDA_PTX_ASSEMBLE_H
#define RESID_CODEGEN_CUDA_PTX_ASSEMBLE_H

#include "codegen/cuda/ptx/Chip.h"

namespace mlir::resid::cuda {

/// The file that the variable RESID_PTXAS names, or else ptxas from PATH or from the usual folder of the CUDA toolkit;
/// empty where there is none.
std::string findAssembler();

/// The cubin of a PTX text for this chip. An error has what ptxas says; where a temporary file cannot be written, it has
/// the system's error code as well.
llvm::Expected<std::string> assemble(llvm::StringRef assembler, llvm::StringRef ptx, const Chip &chip);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PTX_ASSEMBLE_H
