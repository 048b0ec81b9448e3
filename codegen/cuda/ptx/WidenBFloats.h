// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions from bf16 to f32 as shifts of bits, behind LLVM's other passes: those know what conversions mean, and
// may leave them away.

#ifndef RESID_CODEGEN_CUDA_PTX_WIDENBFLOATS_H
#define RESID_CODEGEN_CUDA_PTX_WIDENBFLOATS_H

#include "llvm/IR/PassManager.h"

namespace mlir::resid::cuda {

/// A bf16 is the upper half of the f32 that it equals. Where two of them lie in one word, each is then one instruction
/// away: a shift or a mask.
struct WidenBFloats : llvm::PassInfoMixin<WidenBFloats> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PTX_WIDENBFLOATS_H
