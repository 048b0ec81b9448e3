// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/ptx/WordPasses.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace mlir::resid;

static constexpr unsigned kWordBits = 32;

/// The factor, where the instruction multiplies a word by a constant of as many bits.
static const llvm::APInt *getFactor(llvm::Instruction &instruction, const llvm::DataLayout &layout) {
  llvm::Value *word;
  const llvm::APInt *factor;
  if (!instruction.getType()->isIntegerTy(2 * kWordBits) ||
      !llvm::PatternMatch::match(&instruction, llvm::PatternMatch::m_Mul(llvm::PatternMatch::m_Value(word),
                                                                         llvm::PatternMatch::m_APInt(factor))))
    return nullptr;
  bool isWord = llvm::computeKnownBits(word, layout).countMinLeadingZeros() >= kWordBits;
  return isWord && factor->isIntN(kWordBits) ? factor : nullptr;
}

llvm::PreservedAnalyses cuda::MultiplyWords::run(llvm::Function &function, llvm::FunctionAnalysisManager &) {
  llvm::SmallVector<std::pair<llvm::Instruction *, const llvm::APInt *>> products;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (const llvm::APInt *factor = getFactor(instruction, function.getDataLayout()))
      products.emplace_back(&instruction, factor);
  for (auto [product, factor] : products) {
    llvm::IRBuilder<> builder(product);
    llvm::Type *word = builder.getInt32Ty();
    auto *type = llvm::FunctionType::get(product->getType(), word, /*isVarArg=*/false);
    std::string text = "mul.wide.u32 $0, $1, " + std::to_string(factor->getZExtValue()) + ";";
    auto *code = llvm::InlineAsm::get(type, text, "=l,r", /*hasSideEffects=*/false);
    product->replaceAllUsesWith(builder.CreateCall(code, builder.CreateTrunc(product->getOperand(0), word)));
    product->eraseFromParent();
  }
  if (products.empty())
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}
