// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes on LLVM IR, not MLIR: products of words of 32 bits, and conversions from bf16 as shifts of bits. They run after
// LLVM's other passes, which know what conversions mean and may remove them.

#ifndef RESID_CODEGEN_CUDA_PTX_WORDPASSES_H
#define RESID_CODEGEN_CUDA_PTX_WORDPASSES_H

#include "llvm/IR/PassManager.h"

namespace mlir::resid::cuda {

/// Replaces multiplications of i64 whose operands have no bits above the lower 32, by a constant, with mul.wide.u32.
/// LLVM takes that instruction only where both are extended at once before. Of a multiplication of 64 bits, ptxas
/// computes the products of the upper halves too, which are zero: two instructions of four.
class MultiplyWords : public llvm::PassInfoMixin<MultiplyWords> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

/// A bf16 is the upper half of the f32 that it equals. Where two of them lie in one word, each is then one instruction
/// away: a shift or a mask.
struct WidenBFloats : llvm::PassInfoMixin<WidenBFloats> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PTX_WORDPASSES_H
