// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of words of 32 bits, as the instruction for them. A pass on LLVM IR, not MLIR.

#ifndef RESID_CODEGEN_CUDA_PTX_MULTIPLYWORDS_H
#define RESID_CODEGEN_CUDA_PTX_MULTIPLYWORDS_H

#include "llvm/IR/PassManager.h"

namespace mlir::resid::cuda {

/// Replaces multiplications of i64 whose operands have no bits above the lower 32, by a constant, with mul.wide.u32.
/// LLVM takes that instruction only where both are extended at once before. Of a multiplication of 64 bits, ptxas
/// computes the products of the upper halves too, which are zero: two instructions of four.
class MultiplyWords : public llvm::PassInfoMixin<MultiplyWords> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PTX_MULTIPLYWORDS_H
