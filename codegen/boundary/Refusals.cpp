// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links what checks and refusals of all objects share, and marks what runs rarely.

#include "codegen/boundary/Refusals.h"

#include "codegen/boundary/EntryCode.h"
#include "codegen/boundary/SharedCode.h"
#include "codegen/cpu/choice/CPUTarget.h"
#include "llvm/IR/IRBuilder.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

/// They run where a call goes wrong: what counts is how fast they are compiled, and that nothing of them is inlined.
static void markRare(llvm::Function &function) {
  function.addFnAttr(cpu::kOnceAttribute);
  function.addFnAttr(llvm::Attribute::Cold);
  function.addFnAttr(llvm::Attribute::NoInline);
}

void mlir::resid::boundary::addRefusals(llvm::Module &module, ArrayRef<KernelSignature> kernels, StringRef processors) {
  if (kernels.empty())
    return;
  linkSharedCode(module, "Arrays");
  linkSharedCode(module, "Refuse");
  for (llvm::Function &function : module)
    if (function.getName().starts_with(kRefuseName))
      markRare(function);
  for (const KernelSignature &kernel : kernels)
    for (StringRef suffix : {kRefuseArraysSuffix, kRefuseValueSuffix})
      if (llvm::Function *function = module.getFunction(kernel.symbol + suffix.str()))
        markRare(*function);
  if (llvm::GlobalVariable *global = module.getGlobalVariable(kProcessorsName)) {
    llvm::IRBuilder<> builder(module.getContext());
    llvm::GlobalVariable *text = builder.CreateGlobalString(processors, "resid.text", 0, &module);
    global->replaceAllUsesWith(text);
    global->eraseFromParent();
  }
}

bool mlir::resid::boundary::isRefusal(const llvm::Function &function) {
  StringRef name = function.getName();
  return isSharedCode(name) || name.ends_with(kRefuseArraysSuffix) || name.ends_with(kRefuseValueSuffix);
}
