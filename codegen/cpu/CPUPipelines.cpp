// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which passes run in which order, from tensors to the LLVM dialect, and their registration.

#include "codegen/cpu/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::resid;

static void addCleanup(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

void cpu::buildBufferizationPipeline(OpPassManager &manager) {
  manager.addPass(createDecomposeAggregates());
  manager.addPass(createFillSplats());
  manager.addPass(createPackStrided());
  manager.addPass(createTrackDestinations());
  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  // The type of an empty tensor's buffer would be unknown where branches of a condition meet: any strides.
  manager.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  options.allowReturnAllocsFromLoops = true;
  manager.addPass(bufferization::createOneShotBufferizePass(options));
  addCleanup(manager);
  manager.addNestedPass<func::FuncOp>(bufferization::createBufferHoistingPass());
  manager.addNestedPass<func::FuncOp>(bufferization::createBufferLoopHoistingPass());
  addCleanup(manager);
}

/// User code on bf16 and f16 computes in f32 and rounds after each operation; then no conversion is a library call.
static void addFloatLowering(OpPassManager &manager, const cpu::CPUTarget &target) {
  manager.addPass(cpu::createEmulateNarrowFloats());
  cpu::ExpandMathOptions mathOptions;
  mathOptions.hasFMA = target.hasFMA;
  manager.addPass(cpu::createExpandMath(mathOptions));
  cpu::ExpandNarrowFloatsOptions floatOptions;
  floatOptions.hasF16C = target.hasF16C;
  manager.addPass(cpu::createExpandNarrowFloats(floatOptions));
  manager.addPass(cpu::createFoldAndShare());
}

static void addConversionToLLVM(OpPassManager &manager) {
  manager.addPass(cpu::createConvertToLLVM());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(cpu::createMoveLoopAnnotations());
  manager.addPass(cpu::createFinishLLVMModule());
}

void cpu::buildCPULoweringPipeline(OpPassManager &manager, const CPUTarget &target) {
  manager.addNestedPass<func::FuncOp>(cpu::createLowerRequire());
  cpu::LowerKernelsOptions kernelOptions;
  kernelOptions.vectorBits = target.vectorBits;
  kernelOptions.maskedBits = target.maskedBits;
  kernelOptions.hasPackedBF16 = target.hasPackedBF16;
  kernelOptions.isX86 = target.isX86;
  kernelOptions.schedule = printSchedule(target.schedule);
  manager.addPass(cpu::createLowerKernels(kernelOptions));
  manager.addPass(cpu::createLowerCopies());
  manager.addPass(cpu::createOrderLoops());
  manager.addPass(cpu::createLowerLoopNests());
  addFloatLowering(manager, target);
  manager.addPass(cpu::createExpandDivisions());
  addConversionToLLVM(manager);
}

namespace {
struct CPUTargetOptions : public PassPipelineOptions<CPUTargetOptions> {
  Option<bool> hasFMA{*this, "fma", llvm::cl::desc("the target has a fused multiply-add"), llvm::cl::init(true)};
  Option<bool> hasF16C{*this, "f16c", llvm::cl::desc("the target converts between f16 and f32"), llvm::cl::init(true)};
  Option<unsigned> vectorBits{*this, "vector-bits", llvm::cl::desc("width of the vector registers"),
                              llvm::cl::init(256)};
  Option<unsigned> maskedBits{*this, "masked-bits", llvm::cl::desc("narrowest elements that memory takes under a mask"),
                              llvm::cl::init(0)};
  Option<bool> hasPackedBF16{*this, "packed-bf16", llvm::cl::desc("the target has vcvtne2ps2bf16"),
                             llvm::cl::init(false)};
  Option<bool> isX86{*this, "x86", llvm::cl::desc("the target is an x86-64"), llvm::cl::init(false)};
  Option<std::string> schedule{*this, "schedule", llvm::cl::desc("settings as key=value,key=value")};
};
} // namespace

/// A schedule that is none is a wrong flag.
static LogicalResult addCPULowering(OpPassManager &manager, StringRef text,
                                    function_ref<LogicalResult(const Twine &)> errorHandler) {
  CPUTargetOptions options;
  if (failed(options.parseFromString(text)))
    return failure();
  llvm::Expected<cpu::Schedule> schedule = cpu::parseSchedule(options.schedule);
  if (!schedule)
    return errorHandler(llvm::toString(schedule.takeError()));
  cpu::buildCPULoweringPipeline(manager, {options.hasFMA, options.hasF16C, options.vectorBits, options.maskedBits,
                                          options.hasPackedBF16, options.isX86, *schedule});
  return success();
}

void cpu::registerCPUPassesAndPipelines() {
  registerResidCPUPasses();
  PassPipelineRegistration<>("resid-bufferize", "tensors to memrefs; kernels write into the destinations themselves",
                             buildBufferizationPipeline);
  registerPassPipeline(
      "resid-lower-to-cpu", "bufferized functions to the LLVM dialect, without library calls", addCPULowering,
      [](function_ref<void(const detail::PassOptions &)> handleOptions) { handleOptions(CPUTargetOptions()); });
}
