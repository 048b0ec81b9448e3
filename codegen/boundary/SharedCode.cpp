// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/SharedCode.h"

#include "codegen/cpu/choice/CPUTarget.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir::resid;
using llvm::Function;
using llvm::Module;
using llvm::StringRef;

static constexpr struct {
  llvm::StringLiteral name, text;
} sources[] = {
#include "codegen/boundary/SharedCode.inc"
};

/// What the machine and the flags of the build left on a function.
static void dropBuildAttributes(Function &function) {
  for (llvm::Attribute attribute : function.getAttributes().getFnAttrs())
    if (attribute.isStringAttribute() && attribute.getKindAsString() != "no-jump-tables")
      function.removeFnAttr(attribute.getKindAsString());
  function.removeFnAttr(llvm::Attribute::OptimizeForSize); // at odds with functions that are not optimised at all
}

void boundary::linkSharedCode(Module &module, StringRef source) {
  const auto *found = llvm::find_if(sources, [&](const auto &each) { return each.name == source; });
  assert(found != std::end(sources) && "expected a source of shared/");
  llvm::SMDiagnostic error;
  std::unique_ptr<Module> code = llvm::parseAssemblyString(found->text, error, module.getContext());
  assert(code && "expected the text of clang to parse");
  code->setTargetTriple(module.getTargetTriple());
  code->setDataLayout(module.getDataLayout());
  for (llvm::NamedMDNode &facts : llvm::make_early_inc_range(code->named_metadata()))
    facts.eraseFromParent();
  for (Function &function : *code)
    if (!function.isDeclaration()) {
      dropBuildAttributes(function);
      function.addFnAttr(cpu::kBriefAttribute);
      function.setName("resid." + function.getName());
    }
  [[maybe_unused]] bool failed = llvm::Linker::linkModules(module, std::move(code));
  assert(!failed && "expected nothing else of the names in the text");
}

bool boundary::isSharedCode(StringRef name) {
  return name.starts_with("resid.arrays_") || name.starts_with("resid.dl_") || name.starts_with("resid.refuse");
}
