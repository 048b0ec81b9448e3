// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linkage, target attributes, F_info and F__packed.

#include "codegen/emit/Exports.h"

#include "codegen/emit/CPUFeatures.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace mlir::resid::emit;

/// The resid_info of a function; see runtime/resid.h.
static void addInfoFunction(llvm::Module &module, const TargetDescription &target, const KernelSignature &kernel) {
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *i32 = llvm::Type::getInt32Ty(context);
  auto *function = llvm::Function::Create(llvm::FunctionType::get(pointer, false), llvm::GlobalValue::ExternalLinkage,
                                          kernel.symbol + "_info", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  auto text = [&](StringRef value) { return builder.CreateGlobalString(value); };
  auto *type = llvm::StructType::get(context, {i32, pointer, pointer, pointer});
  auto *value = llvm::ConstantStruct::get(
      type, {llvm::ConstantInt::get(i32, 1), text(target.triple), text(target.cpu), text(kernel.typeText)});
  auto *info = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage, value);
  builder.CreateRet(info);
}

static void addPackedFunction(llvm::Module &module, llvm::Function *entry) {
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *function = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, false),
                                          llvm::GlobalValue::ExternalLinkage, entry->getName() + "__packed", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  auto argument = [&](unsigned index) {
    return builder.CreateLoad(pointer, builder.CreateConstGEP1_32(pointer, function->getArg(0), index));
  };
  SmallVector<llvm::Value *> values;
  for (llvm::Argument &parameter : entry->args()) {
    llvm::Value *place = argument(parameter.getArgNo());
    llvm::Type *type = parameter.getType();
    // A C bool has a whole byte.
    values.push_back(type->isIntegerTy(1) ? builder.CreateTrunc(builder.CreateLoad(builder.getInt8Ty(), place), type)
                                          : builder.CreateLoad(type, place));
  }
  builder.CreateStore(builder.CreateCall(entry, values), argument(entry->arg_size()));
  builder.CreateRetVoid();
}

void mlir::resid::emit::finishExports(llvm::Module &module, const TargetDescription &target,
                                      ArrayRef<KernelSignature> kernels, bool packed) {
  SmallVector<llvm::Function *> exported;
  for (const KernelSignature &kernel : kernels) {
    addInfoFunction(module, target, kernel);
    llvm::Function *entry = module.getFunction(kernel.symbol);
    if (packed) {
      addPackedFunction(module, entry);
      exported.push_back(module.getFunction(kernel.symbol + "__packed"));
    }
    exported.append(
        {entry, module.getFunction(kernel.symbol + "_info"), module.getFunction(kernel.symbol + "_scratch_bytes")});
  }
  bool isX86 = llvm::Triple(target.triple).isX86();
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    bool isExported = llvm::is_contained(exported, &function);
    function.setLinkage(isExported ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage);
    function.setVisibility(llvm::GlobalValue::DefaultVisibility);
    function.setDoesNotThrow();
    bool isBaseline = isExported || function.getName() == kCPUCheckName;
    function.addFnAttr("target-cpu", isBaseline ? (isX86 ? "x86-64" : "generic") : target.cpu);
    function.addFnAttr("target-features", isBaseline ? "" : target.features);
  }
  for (llvm::GlobalVariable &variable : module.globals())
    if (!variable.isDeclaration() && !variable.hasLocalLinkage())
      variable.setLinkage(llvm::GlobalValue::InternalLinkage);
}
