// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two pipelines of LLVM passes; see Optimize.h.

#include "codegen/emit/Optimize.h"

#include "codegen/cpu/CPUTarget.h"
#include "llvm/ADT/Any.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace mlir::resid;

/// What is left to do for loops of whole vectors: addresses that are computed more than once, values that do not change
/// in a loop, blocks that are empty. Neither vectorising nor unrolling could gain anything.
static llvm::FunctionPassManager buildVectorLoopPipeline() {
  llvm::FunctionPassManager manager;
  manager.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  manager.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  manager.addPass(llvm::InstCombinePass());
  manager.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  manager.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  manager.addPass(llvm::GVNPass());
  manager.addPass(llvm::InstCombinePass());
  manager.addPass(llvm::SimplifyCFGPass());
  manager.addPass(llvm::ADCEPass());
  return manager;
}

/// The functions that passes of O3 leave alone.
using FunctionSet = llvm::SmallPtrSet<const llvm::Function *, 16>;

/// Whether `ir`, which a pass is about to run on, is one of `functions` or a loop in one.
static bool isWithin(const llvm::Any &ir, const FunctionSet &functions) {
  if (auto *function = llvm::any_cast<const llvm::Function *>(&ir))
    return functions.contains(*function);
  if (auto *loop = llvm::any_cast<const llvm::Loop *>(&ir))
    return functions.contains((*loop)->getHeader()->getParent());
  return false;
}

void emit::optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  FunctionSet done;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [&](llvm::StringRef, llvm::Any ir) { return !isWithin(ir, done); });
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(), std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::FunctionPassManager vectorLoopPasses = buildVectorLoopPipeline();
  for (llvm::Function &function : module)
    if (function.hasFnAttribute(cpu::kVectorLoopsAttribute)) {
      function.removeFnAttr(cpu::kVectorLoopsAttribute);
      functions.invalidate(function, vectorLoopPasses.run(function, functions));
      done.insert(&function);
    }
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}
