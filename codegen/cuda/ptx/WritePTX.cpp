// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/ptx/WritePTX.h"

#include "codegen/cuda/ptx/WordPasses.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"

using namespace mlir;
using namespace mlir::resid;

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager &last, auto...) {
    llvm::FunctionPassManager passes;
    passes.addPass(cuda::WidenBFloats());
    passes.addPass(cuda::MultiplyWords());
    passes.addPass(llvm::InstCombinePass());
    last.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  });
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

std::string cuda::writePTX(ModuleOp module, const Chip &chip) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  registerNVVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "resid");
  if (!code) {
    module.emitError("could not be translated to LLVM IR");
    return {};
  }
  code->setSourceFileName("resid");
  code->setTargetTriple(chip.machine->getTargetTriple());
  code->setDataLayout(chip.machine->createDataLayout());
  optimize(*code, *chip.machine);
  llvm::SmallVector<char> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager manager;
  if (llvm::verifyModule(*code, &llvm::errs()) ||
      chip.machine->addPassesToEmitFile(manager, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                        /*DisableVerify=*/true)) {
    module.emitError("could not be written as PTX");
    return {};
  }
  manager.run(*code);
  return std::string(text.begin(), text.end());
}
