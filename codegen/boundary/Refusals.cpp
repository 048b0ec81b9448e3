// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links what checks and refusals of all objects share (Arrays.ll, ArrayOrder.ll, Refuse.ll).

#include "codegen/boundary/Refusals.h"

#include "codegen/boundary/ArrayOrder.inc"
#include "codegen/boundary/Arrays.inc"
#include "codegen/boundary/EntryCode.h"
#include "codegen/boundary/Refuse.inc"
#include "codegen/cpu/choice/CPUTarget.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

/// They run where a call goes wrong: what counts is how fast they are compiled, and that nothing of them is inlined.
static void markRare(llvm::Function &function) {
  function.addFnAttr(cpu::kOnceAttribute);
  function.addFnAttr(llvm::Attribute::Cold);
  function.addFnAttr(llvm::Attribute::NoInline);
}

static void link(llvm::Module &module, StringRef text, bool isRare) {
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> shared = llvm::parseAssemblyString(text, error, module.getContext());
  assert(shared && "expected the text of a function that all objects share to parse");
  shared->setTargetTriple(module.getTargetTriple());
  shared->setDataLayout(module.getDataLayout());
  for (llvm::Function &function : *shared)
    if (!function.isDeclaration() && isRare)
      markRare(function);
  [[maybe_unused]] bool failed = llvm::Linker::linkModules(module, std::move(shared));
  assert(!failed && "expected nothing else of the names in the text");
}

void mlir::resid::boundary::addRefusals(llvm::Module &module, ArrayRef<KernelSignature> kernels, StringRef processors) {
  if (kernels.empty())
    return;
  link(module, kRefuse, /*isRare=*/true);
  link(module, kArrays, /*isRare=*/false);
  link(module, kArrayOrder, /*isRare=*/false);
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
  return name.starts_with(kRefuseName) || name.starts_with("resid.arrays_") || name.ends_with(kRefuseArraysSuffix) ||
         name.ends_with(kRefuseValueSuffix);
}
