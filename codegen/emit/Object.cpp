// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translation and code emission; see Object.h.

#include "codegen/emit/Object.h"

#include "codegen/emit/Exports.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::emit;

static std::unique_ptr<llvm::Module> translateOne(ModuleOp module, const TargetDescription &target,
                                                  llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(module, context, "resid");
  if (!translated) {
    module.emitError("could not be translated to LLVM IR");
    return nullptr;
  }
  translated->setSourceFileName("resid");
  translated->setTargetTriple(llvm::Triple(target.triple));
  translated->setDataLayout(target.machine->createDataLayout());
  translated->setPICLevel(llvm::PICLevel::BigPIC);
  return translated;
}

std::unique_ptr<llvm::Module> emit::translate(ModuleOp module, ArrayRef<OwningOpRef<ModuleOp>> variants,
                                              ArrayRef<TargetDescription> targets, ArrayRef<KernelSignature> kernels,
                                              bool packedEntries, llvm::LLVMContext &context) {
  assert(variants.size() == (targets.size() == 1 ? 0 : targets.size()) && "expected one module per CPU");
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> all = translateOne(module, targets.front(), context);
  if (!all)
    return nullptr;
  for (const auto &[variant, target] : llvm::zip(variants, targets)) {
    std::unique_ptr<llvm::Module> translated = translateOne(*variant, target, context);
    if (!translated)
      return nullptr;
    setVariant(*translated, target);
    if (llvm::Linker::linkModules(*all, std::move(translated))) {
      (*variant)->emitError("could not be linked to the entries");
      return nullptr;
    }
  }
  finishExports(*all, targets, kernels, packedEntries);
  return all;
}

LogicalResult emit::writeCode(llvm::Module &module, const TargetDescription &target, CodeKind kind,
                              SmallVectorImpl<char> &bytes) {
  llvm::raw_svector_ostream stream(bytes);
  if (kind == CodeKind::LLVM) {
    module.print(stream, nullptr);
    return success();
  }
  llvm::legacy::PassManager manager;
  auto fileType = kind == CodeKind::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  if (target.machine->addPassesToEmitFile(manager, stream, nullptr, fileType))
    return failure();
  manager.run(module);
  return success();
}

llvm::Expected<std::vector<std::string>> emit::findForbiddenImports(llvm::ArrayRef<char> object) {
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "resid"));
  if (!file)
    return file.takeError();
  bool isAArch64 = (*file)->getArch() == llvm::Triple::aarch64;
  std::vector<std::string> forbidden;
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags)
      return flags.takeError();
    if (!name)
      return name.takeError();
    bool allowed = *name == "memcpy" || *name == "memset" || *name == "memmove" || name->empty() ||
                   (isAArch64 && *name == "getauxval");
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !allowed)
      forbidden.push_back(name->str());
  }
  return forbidden;
}
