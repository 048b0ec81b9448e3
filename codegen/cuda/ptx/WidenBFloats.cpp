// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/ptx/WordPasses.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace mlir::resid;

/// The bits (i32) of an element of a vector of two, widened; nothing where the element is no such one.
static llvm::Value *takeFromPair(llvm::IRBuilder<> &builder, llvm::Value *element) {
  auto *taken = llvm::dyn_cast<llvm::ExtractElementInst>(element);
  if (!taken || taken->getVectorOperandType()->getElementCount() != llvm::ElementCount::getFixed(2))
    return nullptr;
  auto *number = llvm::dyn_cast<llvm::ConstantInt>(taken->getIndexOperand());
  if (!number)
    return nullptr;
  llvm::Value *word = builder.CreateBitCast(taken->getVectorOperand(), builder.getInt32Ty());
  constexpr uint32_t upperHalf = 0xffff0000;
  return number->isZero() ? builder.CreateShl(word, 16) : builder.CreateAnd(word, upperHalf);
}

llvm::PreservedAnalyses cuda::WidenBFloats::run(llvm::Function &function, llvm::FunctionAnalysisManager &) {
  llvm::SmallVector<llvm::FPExtInst *> conversions;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *extension = llvm::dyn_cast<llvm::FPExtInst>(&instruction))
      if (extension->getSrcTy()->isBFloatTy() && extension->getDestTy()->isFloatTy())
        conversions.push_back(extension);
  for (llvm::FPExtInst *conversion : conversions) {
    llvm::IRBuilder<> builder(conversion);
    llvm::Value *bits = takeFromPair(builder, conversion->getOperand(0));
    if (!bits) {
      bits = builder.CreateBitCast(conversion->getOperand(0), builder.getInt16Ty());
      bits = builder.CreateShl(builder.CreateZExt(bits, builder.getInt32Ty()), 16);
    }
    conversion->replaceAllUsesWith(builder.CreateBitCast(bits, builder.getFloatTy()));
    conversion->eraseFromParent();
  }
  if (conversions.empty())
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}
