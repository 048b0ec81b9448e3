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
#include "llvm/IR/InstIterator.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

/// How the names of all functions in Arrays.ll and ArrayOrder.ll begin.
static constexpr llvm::StringLiteral kArraysPrefix = "resid.arrays_";

/// They run where a call goes wrong: what counts is how fast they are compiled, and that nothing of them is inlined.
static void markRare(llvm::Function &function) {
  function.addFnAttr(cpu::kOnceAttribute);
  function.addFnAttr(llvm::Attribute::Cold);
  function.addFnAttr(llvm::Attribute::NoInline);
}

static void link(llvm::Module &module, StringRef text) {
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> shared = llvm::parseAssemblyString(text, error, module.getContext());
  assert(shared && "expected the text of a function that all objects share to parse");
  shared->setTargetTriple(module.getTargetTriple());
  shared->setDataLayout(module.getDataLayout());
  [[maybe_unused]] bool failed = llvm::Linker::linkModules(module, std::move(shared));
  assert(!failed && "expected nothing else of the names in the text");
}

/// They are in good form as they are written, but for their helpers: so they are no reason to optimise a module as one
/// with loops over elements.
static void markBrief(llvm::Function &function) {
  function.addFnAttr(cpu::kBriefAttribute);
  SmallVector<llvm::CallBase *> calls;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *call = dyn_cast<llvm::CallBase>(&instruction))
      if (call->getCalledFunction() && call->getCalledFunction()->hasFnAttribute(llvm::Attribute::AlwaysInline))
        calls.push_back(call);
  for (llvm::CallBase *call : calls) {
    llvm::InlineFunctionInfo info;
    (void)llvm::InlineFunction(*call, info);
  }
}

void mlir::resid::boundary::addRefusals(llvm::Module &module, ArrayRef<KernelSignature> kernels, StringRef processors) {
  if (kernels.empty())
    return;
  for (StringRef text : {StringRef(kRefuse), StringRef(kArrays), StringRef(kArrayOrder)})
    link(module, text);
  for (llvm::Function &function : module) {
    if (function.getName().starts_with(kRefuseName))
      markRare(function);
    if (function.getName().starts_with(kArraysPrefix))
      markBrief(function);
  }
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
  return name.starts_with(kRefuseName) || name.starts_with(kArraysPrefix) || name.ends_with(kRefuseArraysSuffix) ||
         name.ends_with(kRefuseValueSuffix);
}
