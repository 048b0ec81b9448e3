// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linkage, target attributes, F_info, F_weight_list and F__packed; links what checks and refusals of all objects share.
// Does not own when a call is refused (ArrayChecks.h), nor the texts (RefusalText.h).

#include "codegen/boundary/Exports.h"

#include "codegen/boundary/DLPackEntry.h"
#include "codegen/boundary/EntryCode.h"
#include "codegen/boundary/Passes.h"
#include "codegen/boundary/SharedCode.h"
#include "codegen/boundary/Signature.h"
#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/machine/CPUFeatures.h"
#include "codegen/machine/Object.h"
#include "runtime/resid.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

/// They run where a call goes wrong: what counts is how fast they are compiled, and that nothing of them is inlined.
static void markRare(llvm::Function &function) {
  function.addFnAttr(cpu::kOnceAttribute);
  function.addFnAttr(llvm::Attribute::Cold);
  function.addFnAttr(llvm::Attribute::NoInline);
}

/// Links what the entries of `module` call where they check arrays and refuse. `processors`: what a processor has to
/// have.
static void addRefusals(llvm::Module &module, ArrayRef<KernelSignature> kernels, StringRef processors) {
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

/// Whether `function` checks or refuses, and so runs before the processor was asked.
static bool isRefusal(const llvm::Function &function) {
  StringRef name = function.getName();
  return isSharedCode(name) || name.ends_with(kRefuseArraysSuffix) || name.ends_with(kRefuseValueSuffix);
}

/// A private constant with these elements.
static llvm::GlobalVariable *addTable(llvm::Module &module, llvm::ArrayType *type, ArrayRef<llvm::Constant *> values) {
  return new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                  llvm::ConstantArray::get(type, values));
}

/// The function F_info: the resid_info (runtime/resid.h) of the CPU that is chosen; where there are several, the last
/// one is for a processor that has none of them.
static void addInfoFunction(llvm::Module &module, const kernels::Target &target, const KernelSignature &kernel) {
  ArrayRef<machine::TargetDescription> processors = target.getProcessors();
  const kernels::Device *device = target.getDevice();
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *i32 = llvm::Type::getInt32Ty(context);
  auto *function = llvm::Function::Create(llvm::FunctionType::get(pointer, false), llvm::GlobalValue::ExternalLinkage,
                                          kernel.symbol + "_info", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  auto *triple = builder.CreateGlobalString(device ? device->triple : processors.front().triple);
  auto *signature = builder.CreateGlobalString(kernel.typeText);
  auto *type = llvm::StructType::get(context, {i32, pointer, pointer, pointer});
  SmallVector<llvm::Constant *> values;
  auto add = [&](StringRef cpu) {
    values.push_back(llvm::ConstantStruct::get(
        type, {llvm::ConstantInt::get(i32, RESID_ABI_VERSION), triple, builder.CreateGlobalString(cpu), signature}));
  };
  for (const machine::TargetDescription &processor : processors)
    add(device ? device->machines : processor.cpu);
  if (processors.size() > 1)
    add(llvm::join(machine::getCPUNames(processors), ","));
  llvm::GlobalVariable *table = addTable(module, llvm::ArrayType::get(type, values.size()), values);
  if (processors.size() == 1) {
    builder.CreateRet(table);
    return;
  }
  llvm::Value *choice = builder.CreateCall(module.getFunction(machine::kCPUChoiceName));
  llvm::Value *index = builder.CreateZExt(builder.CreateSub(choice, builder.getInt32(1)), builder.getInt64Ty());
  builder.CreateRet(builder.CreateInBoundsGEP(type, table, index));
}

/// The resid_weight (runtime/resid.h) of a member.
static llvm::Constant *makeWeight(llvm::Module &module, llvm::IRBuilder<> &builder, llvm::StructType *type,
                                  const KernelValue &value) {
  llvm::Constant *null = llvm::ConstantPointerNull::get(builder.getPtrTy());
  llvm::Constant *name = value.weight->empty() ? null : builder.CreateGlobalString(*value.weight);
  auto sizes =
      llvm::map_to_vector(value.shape, [&](int64_t size) -> llvm::Constant * { return builder.getInt64(size); });
  llvm::Constant *shape = null;
  if (!sizes.empty())
    shape = addTable(module, llvm::ArrayType::get(builder.getInt64Ty(), sizes.size()), sizes);
  return llvm::ConstantStruct::get(type,
                                   {name, builder.CreateGlobalString(getCheckpointTypeName(value.getElementType())),
                                    shape, builder.getInt32(sizes.size())});
}

/// The function F_weight_list: the resid_weight_list of the struct of weights.
static llvm::Function *addWeightList(llvm::Module &module, const KernelSignature &kernel) {
  auto *pointer = llvm::PointerType::getUnqual(module.getContext());
  auto *function = llvm::Function::Create(llvm::FunctionType::get(pointer, false), llvm::GlobalValue::ExternalLinkage,
                                          kernel.getWeightListName(), module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", function));
  auto *type = llvm::StructType::get(module.getContext(), {pointer, pointer, pointer, builder.getInt32Ty()});
  SmallVector<llvm::Constant *> weights;
  for (const KernelValue &argument : kernel.arguments)
    if (argument.isMember())
      weights.push_back(makeWeight(module, builder, type, argument));
  auto *list = llvm::ConstantStruct::getAnon(
      {builder.getInt64(weights.size()), addTable(module, llvm::ArrayType::get(type, weights.size()), weights)});
  builder.CreateRet(
      new llvm::GlobalVariable(module, list->getType(), /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage, list));
  return function;
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

/// What a refusal says that it expected.
static std::string describeProcessors(ArrayRef<machine::TargetDescription> targets) {
  if (targets.size() > 1)
    return "one that is able to run code for " + llvm::join(machine::getCPUNames(targets), " or ");
  return "one with " + llvm::join(targets.front().getRequiredFeatures(), ", ");
}

/// Entries of more instructions, which check some hundred arrays, are not made shorter: that takes time which grows
/// with the square of their length.
static constexpr unsigned kMostOptimized = 1024;

/// Adds the functions beside the entries; gives all that is exported.
static SmallVector<llvm::Function *> addExports(llvm::Module &module, const kernels::Target &target,
                                                ArrayRef<KernelSignature> kernels, bool packed) {
  SmallVector<llvm::Function *> exported;
  addRefusals(module, kernels, describeProcessors(target.getProcessors()));
  if (!packed)
    addDLPackEntries(module, kernels);
  for (const KernelSignature &kernel : kernels) {
    addInfoFunction(module, target, kernel);
    llvm::Function *entry = module.getFunction(kernel.symbol);
    if (packed) {
      addPackedFunction(module, entry);
      exported.push_back(module.getFunction(kernel.symbol + "__packed"));
    } else {
      exported.push_back(module.getFunction(kernel.symbol + kDLPackSuffix.str()));
    }
    if (kernel.isForDevice)
      exported.push_back(module.getFunction(kernel.symbol + kPreloadSuffix.str()));
    if (!kernel.weights.empty())
      exported.push_back(addWeightList(module, kernel));
    exported.append(
        {entry, module.getFunction(kernel.symbol + "_info"), module.getFunction(kernel.symbol + "_scratch_bytes")});
  }
  return exported;
}

void boundary::finishExports(llvm::Module &module, const kernels::Target &target, ArrayRef<KernelSignature> kernels,
                             bool packed) {
  const machine::TargetDescription &processor = target.getProcessors().front();
  SmallVector<llvm::Function *> exported = addExports(module, target, kernels, packed);
  SmallVector<llvm::Function *> baseline = exported;
  baseline.push_back(module.getFunction(machine::kCPUChoiceName));
  SmallVector<StringRef> entries;
  for (const KernelSignature &kernel : kernels) {
    entries.push_back(kernel.symbol);
    baseline.push_back(module.getFunction(kernel.symbol + kScratchSuffix.str()));
    for (unsigned index = 0; index < kernel.derivedSizes.size(); ++index)
      baseline.push_back(module.getFunction(kernel.getDerivedSizeName(kernel.getDerivedCode(index))));
  }
  bool isX86 = llvm::Triple(processor.triple).isX86();
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    bool isExported = llvm::is_contained(exported, &function);
    function.setLinkage(isExported ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage);
    function.setVisibility(llvm::GlobalValue::DefaultVisibility);
    function.setDoesNotThrow();
    if (llvm::is_contained(baseline, &function)) {
      machine::setCPU(function, isX86 ? "x86-64" : "generic", "");
      // Every call goes through an entry, which O3 makes shorter. F_dl is called as often as F, but has nothing to gain
      // from optimisation, as little as what else is exported: loads, stores and calls.
      bool isEntry = llvm::is_contained(entries, function.getName());
      if (!isEntry || function.getInstructionCount() > kMostOptimized)
        function.addFnAttr(isExported && !isEntry ? cpu::kOnceAttribute : cpu::kBriefAttribute);
    } else if (isRefusal(function)) {
      machine::setCPU(function, isX86 ? "x86-64" : "generic", "");
    } else if (!function.hasFnAttribute("target-cpu")) {
      machine::setCPU(function, processor.cpu, processor.features);
    }
  }
  for (llvm::GlobalVariable &variable : module.globals()) {
    if (variable.isDeclaration())
      continue;
    if (!variable.hasLocalLinkage())
      variable.setLinkage(llvm::GlobalValue::InternalLinkage);
    // Nobody compares their addresses: equal constants of several CPUs become one.
    if (variable.isConstant())
      variable.setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  }
}
