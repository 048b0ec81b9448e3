// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/machine/Object.h"

#include "codegen/machine/CPUVariants.h"
#include "codegen/machine/Optimize.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::machine;

void machine::setCPU(llvm::Function &function, StringRef cpu, StringRef features) {
  function.addFnAttr("target-cpu", getBaseCPU(cpu));
  function.addFnAttr("target-features", features);
}

/// Compiles all functions of `module` for the CPU of `target`, and puts the CPU's name after theirs.
static void setVariant(llvm::Module &module, const TargetDescription &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.setName(getVariantName(function.getName(), target.cpu));
    setCPU(function, target.cpu, target.features);
  }
}

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

std::unique_ptr<llvm::Module> machine::translate(ModuleOp module, ArrayRef<OwningOpRef<ModuleOp>> variants,
                                                 ArrayRef<TargetDescription> targets, llvm::LLVMContext &context) {
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
  return all;
}

/// Loop strength reduction takes a good part of the time of code generation. It brings nothing where loads and stores
/// add a base, an index and an offset themselves, and loops have few, long steps. With registers of 512 bits, code runs
/// as fast without it; with registers of 128 bits, it is a percent or two slower.
static bool needsStrengthReduction(const llvm::Module &module, ArrayRef<TargetDescription> targets) {
  auto isWide = [](const TargetDescription &target) { return target.facts.isX86 && target.facts.vectorBits == 512; };
  return !llvm::all_of(targets, isWide) || hasElementLoops(module);
}

/// LLVM has an option of the process for it, and nothing else.
static void setStrengthReduction(bool isOn) {
  llvm::cl::Option *option = llvm::cl::getRegisteredOptions().lookup("disable-lsr");
  if (!option)
    return;
  option->reset();
  if (!isOn)
    option->addOccurrence(/*pos=*/0, option->ArgStr, "true");
}

LogicalResult machine::writeCode(llvm::Module &module, ArrayRef<TargetDescription> targets, CodeKind kind,
                                 SmallVectorImpl<char> &bytes) {
  llvm::raw_svector_ostream stream(bytes);
  auto fileType = llvm::CodeGenFileType::Null;
  switch (kind) {
  case CodeKind::Object:
    fileType = llvm::CodeGenFileType::ObjectFile;
    break;
  case CodeKind::Assembly:
    fileType = llvm::CodeGenFileType::AssemblyFile;
    break;
  case CodeKind::LLVM:
    std::unique_ptr<llvm::Module> text = llvm::CloneModule(module);
    dropOwnAttributes(*text);
    text->print(stream, nullptr);
    return success();
  }
  setStrengthReduction(needsStrengthReduction(module, targets));
  llvm::legacy::PassManager manager;
  // Once, here: the passes would do so twice, and end the process.
  if (llvm::verifyModule(module, &llvm::errs()))
    return failure();
  // What is compiled for which CPU stands at each function, so any machine of the architecture can write it.
  if (targets.front().machine->addPassesToEmitFile(manager, stream, nullptr, fileType, /*DisableVerify=*/true))
    return failure();
  manager.run(module);
  return success();
}

llvm::Expected<std::vector<std::string>> machine::findForbiddenImports(llvm::ArrayRef<char> object,
                                                                       llvm::StringRef prefix) {
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
                   (isAArch64 && *name == "getauxval") || (!prefix.empty() && name->starts_with(prefix));
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !allowed)
      forbidden.push_back(name->str());
  }
  return forbidden;
}
