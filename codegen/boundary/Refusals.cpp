// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bodies of the functions that refuse, and the code that they share (Refuse.ll).

#include "codegen/boundary/Refusals.h"

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

static llvm::Function *linkShared(llvm::Module &module) {
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> shared = llvm::parseAssemblyString(kRefuse, error, module.getContext());
  assert(shared && "expected the text of Refuse.ll to parse");
  shared->setTargetTriple(module.getTargetTriple());
  shared->setDataLayout(module.getDataLayout());
  for (llvm::Function &function : *shared)
    if (!function.isDeclaration())
      markRare(function);
  [[maybe_unused]] bool failed = llvm::Linker::linkModules(module, std::move(shared));
  assert(!failed && "expected nothing else of the names in Refuse.ll");
  return module.getFunction(kRefuseName);
}

llvm::Constant *mlir::resid::boundary::addProgram(llvm::Module &module, const RefusalProgram &program) {
  auto *bytes = llvm::ConstantDataArray::getString(module.getContext(), program.getBytes(), /*AddNull=*/false);
  auto *global = new llvm::GlobalVariable(module, bytes->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, bytes, "resid.program");
  global->setAlignment(llvm::Align(1));
  return global;
}

/// Stores the parameters that are words, in their order, with room for one more per array behind them.
static void buildArrays(llvm::Function &function, llvm::Function *shared, const KernelSignature &signature,
                        llvm::Constant *program, llvm::Constant *nothing) {
  markRare(function);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(function.getContext(), "", &function));
  unsigned count = function.arg_size() - 2;
  unsigned room = count + signature.arguments.size() + signature.results.size();
  llvm::Value *words = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt64Ty(), room));
  for (unsigned index = 0; index < count; ++index) {
    llvm::Value *argument = function.getArg(1 + index);
    builder.CreateStore(argument, builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), words, index));
  }
  llvm::Value *code = builder.CreateAnd(function.getArg(1 + count), builder.getInt32(0xff));
  builder.CreateRet(
      builder.CreateCall(shared, {function.getArg(0), code, builder.getInt64(0), words, program, nothing}));
}

static void buildValue(llvm::Function &function, llvm::Function *shared, llvm::Constant *program,
                       llvm::Constant *nothing) {
  markRare(function);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(function.getContext(), "", &function));
  llvm::Value *noWords = llvm::ConstantPointerNull::get(builder.getPtrTy());
  builder.CreateRet(builder.CreateCall(
      shared, {function.getArg(0), function.getArg(1), function.getArg(2), noWords, program, nothing}));
}

void mlir::resid::boundary::addRefusals(llvm::Module &module, ArrayRef<KernelSignature> kernels, StringRef processors) {
  if (kernels.empty())
    return;
  llvm::Function *shared = linkShared(module);
  llvm::Constant *nothing = addProgram(module, RefusalProgram().end());
  for (const KernelSignature &kernel : kernels) {
    llvm::Constant *program = addProgram(module, makeRefusals(kernel, processors));
    if (llvm::Function *arrays = module.getFunction(kernel.symbol + kRefuseArraysSuffix.str()))
      buildArrays(*arrays, shared, kernel, program, nothing);
    if (llvm::Function *value = module.getFunction(kernel.symbol + kRefuseValueSuffix.str()))
      buildValue(*value, shared, program, nothing);
  }
}
