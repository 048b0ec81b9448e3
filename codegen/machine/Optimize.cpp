// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/machine/Optimize.h"

#include "codegen/cpu/choice/CPUTarget.h"
#include "llvm/ADT/Any.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/ConstantMerge.h"
#include "llvm/Transforms/IPO/DeadArgumentElimination.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/GlobalOpt.h"
#include "llvm/Transforms/IPO/SCCP.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/VectorCombine.h"

using namespace mlir::resid;

/// What is left to do for loops of whole vectors: values that do not change in a loop, and are the same once they are
/// out of it; blocks that are empty. Neither vectorising nor unrolling could gain anything.
static llvm::FunctionPassManager buildVectorLoopPipeline(bool isX86) {
  llvm::FunctionPassManager manager;
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  manager.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  manager.addPass(llvm::EarlyCSEPass());
  manager.addPass(llvm::InstCombinePass());
  manager.addPass(llvm::SimplifyCFGPass());
  // On aarch64 random numbers would be multiplied lane by lane otherwise; on x86-64 dropout would need more registers.
  if (!isX86)
    manager.addPass(llvm::VectorCombinePass());
  return manager;
}

/// For code that runs once per call: what makes it short, and so quick to select instructions for. In the order that
/// Reassociate gives them, conditions of one branch become branches instead of bytes that are set and combined.
static llvm::FunctionPassManager buildBriefPipeline() {
  llvm::FunctionPassManager manager;
  manager.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  manager.addPass(llvm::InstCombinePass());
  manager.addPass(llvm::SimplifyCFGPass());
  manager.addPass(llvm::ReassociatePass());
  manager.addPass(llvm::EarlyCSEPass());
  manager.addPass(llvm::SimplifyCFGPass());
  return manager;
}

/// Where no loop is left for LLVM to vectorise: implementations take every size and stride of their arrays apart, which
/// are constants or not used.
static llvm::ModulePassManager buildArgumentPipeline() {
  llvm::ModulePassManager manager;
  manager.addPass(llvm::GlobalDCEPass());
  manager.addPass(llvm::IPSCCPPass(llvm::IPSCCPOptions(/*AllowFuncSpec=*/false)));
  manager.addPass(llvm::DeadArgumentEliminationPass());
  manager.addPass(llvm::GlobalOptPass());
  manager.addPass(llvm::ConstantMergePass()); // several CPUs bring the same ones
  return manager;
}

static bool runsOnce(const llvm::Function &function) { return function.hasFnAttribute(cpu::kOnceAttribute); }
static bool isBrief(const llvm::Function &function) {
  return function.hasFnAttribute(cpu::kBriefAttribute) || runsOnce(function);
}
static bool isOfVectorLoops(const llvm::Function &function) {
  return function.hasFnAttribute(cpu::kVectorLoopsAttribute);
}

/// Whether `ir`, which a pass is about to run on, is a function with passes of its own or a loop in one.
static bool hasOwnPasses(const llvm::Any &ir) {
  const llvm::Function *function = nullptr;
  if (auto *itself = llvm::any_cast<const llvm::Function *>(&ir))
    function = *itself;
  if (auto *loop = llvm::any_cast<const llvm::Loop *>(&ir))
    function = (*loop)->getHeader()->getParent();
  return function && (isBrief(*function) || isOfVectorLoops(*function));
}

bool machine::hasElementLoops(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) {
    if (function.isDeclaration() || isBrief(function) || isOfVectorLoops(function))
      return false;
    llvm::SmallVector<std::pair<const llvm::BasicBlock *, const llvm::BasicBlock *>> edges;
    llvm::FindFunctionBackedges(function, edges);
    return !edges.empty();
  });
}

/// Loops over elements must not come into functions that are not optimised any more.
static void keepOutOfBriefFunctions(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && !isBrief(function) && llvm::any_of(function.users(), [](const llvm::User *user) {
          auto *call = llvm::dyn_cast<llvm::CallInst>(user);
          return call && isBrief(*call->getFunction());
        }))
      function.addFnAttr(llvm::Attribute::NoInline);
}

/// Functions that run once would only grow by what comes into them.
static void keepOutOfFunctionsThatRunOnce(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (runsOnce(function))
      for (llvm::Instruction &instruction : llvm::instructions(function))
        if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
          call->setIsNoInline();
}

/// Runs `passes` on the functions that `isMeant`.
static void runOn(llvm::Module &module, llvm::FunctionPassManager passes, llvm::FunctionAnalysisManager &analyses,
                  llvm::function_ref<bool(const llvm::Function &)> isMeant) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && isMeant(function))
      analyses.invalidate(function, passes.run(function, analyses));
}

void machine::optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  bool isForAll = false;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [&](llvm::StringRef, llvm::Any ir) { return !isForAll || !hasOwnPasses(ir); });
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

  runOn(module, buildVectorLoopPipeline(machine.getTargetTriple().isX86()), functions, isOfVectorLoops);
  bool isVectorised = !hasElementLoops(module);
  if (isVectorised) {
    buildArgumentPipeline().run(module, modules);
  } else {
    keepOutOfBriefFunctions(module);
    keepOutOfFunctionsThatRunOnce(module);
    isForAll = true;
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
    isForAll = false;
  }
  // After the passes over the whole module, which take arguments and calls away.
  runOn(module, buildBriefPipeline(), functions, [&](const llvm::Function &function) {
    return !runsOnce(function) && (isBrief(function) || (isVectorised && !isOfVectorLoops(function)));
  });
  // Instructions are selected one by one for these.
  for (llvm::Function &function : module)
    if (runsOnce(function)) {
      function.addFnAttr(llvm::Attribute::NoInline);
      function.addFnAttr(llvm::Attribute::OptimizeNone);
    }
}

void machine::dropOwnAttributes(llvm::Module &module) {
  for (llvm::Function &function : module) {
    function.removeFnAttr(cpu::kVectorLoopsAttribute);
    function.removeFnAttr(cpu::kBriefAttribute);
    function.removeFnAttr(cpu::kOnceAttribute);
  }
}
