// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which passes run in which order, from buffers to the LLVM dialect, and their registration.

#include "codegen/cpu/Passes.h"

#include "codegen/arithmetic/Passes.h"
#include "codegen/buffers/Passes.h"
#include "codegen/conversion/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::resid;

/// User code on bf16 and f16 computes in f32 and rounds after each operation; then no conversion is a library call.
static void addFloatLowering(OpPassManager &manager, const cpu::CPUTarget &target) {
  manager.addPass(arithmetic::createEmulateNarrowFloats());
  arithmetic::ExpandMathOptions mathOptions;
  mathOptions.hasFMA = target.hasFMA;
  manager.addPass(arithmetic::createExpandMath(mathOptions));
  arithmetic::ExpandNarrowFloatsOptions floatOptions;
  floatOptions.hasF16C = target.hasF16C;
  manager.addPass(arithmetic::createExpandNarrowFloats(floatOptions));
  manager.addPass(arithmetic::createCarryNarrowFloats());
  manager.addPass(arithmetic::createFoldAndShare());
}

static void addConversionToLLVM(OpPassManager &manager) {
  manager.addPass(conversion::createConvertToLLVM());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(conversion::createMoveLoopAnnotations());
  manager.addPass(cpu::createFinishLLVMModule());
}

/// The options of a pass that emits kernels.
template <typename Options> static Options makeKernelOptions(const cpu::CPUTarget &target) {
  Options options;
#define RESID_KERNEL_FACT(TYPE, MEMBER, OPTION, DEFAULT, MEANING) options.MEMBER = target.MEMBER;
#include "codegen/cpu/choice/CPUFacts.def"
  options.schedule = printSchedule(target.schedule);
  return options;
}

void cpu::buildCPULoweringPipeline(OpPassManager &manager, const CPUTarget &target) {
  manager.addNestedPass<func::FuncOp>(buffers::createLowerRequire());
  manager.addPass(buffers::createLowerCopies());
  manager.addPass(cpu::createOrderLoops());
  manager.addPass(cpu::createOutlineOps());
  manager.addPass(cpu::createLowerKernels(makeKernelOptions<cpu::LowerKernelsOptions>(target)));
  manager.addPass(cpu::createLowerLoopNests());
  addFloatLowering(manager, target);
  manager.addPass(arithmetic::createExpandDivisions());
  addConversionToLLVM(manager);
}

namespace {
struct CPUTargetOptions : public PassPipelineOptions<CPUTargetOptions> {
#define RESID_CPU_FACT(TYPE, MEMBER, OPTION, DEFAULT, MEANING)                                                         \
  Option<TYPE> MEMBER{*this, OPTION, llvm::cl::desc(MEANING), llvm::cl::init(DEFAULT)};
#include "codegen/cpu/choice/CPUFacts.def"
  Option<std::string> schedule{*this, "schedule", llvm::cl::desc("settings as key=value,key=value")};
};
} // namespace

/// A schedule that is none is a wrong flag.
static LogicalResult addCPULowering(OpPassManager &manager, StringRef text,
                                    function_ref<LogicalResult(const Twine &)> errorHandler) {
  CPUTargetOptions options;
  if (failed(options.parseFromString(text)))
    return failure();
  cpu::CPUTarget target;
#define RESID_CPU_FACT(TYPE, MEMBER, OPTION, DEFAULT, MEANING) target.MEMBER = options.MEMBER;
#include "codegen/cpu/choice/CPUFacts.def"
  llvm::Expected<cpu::Schedule> schedule = cpu::parseSchedule(options.schedule);
  if (llvm::Error error = schedule ? target.use(*schedule) : schedule.takeError())
    return errorHandler(llvm::toString(std::move(error)));
  cpu::buildCPULoweringPipeline(manager, target);
  return success();
}

void cpu::registerCPUPassesAndPipelines() {
  registerResidCPUPasses();
  registerPassPipeline(
      "resid-lower-to-cpu", "bufferized functions to the LLVM dialect, without library calls", addCPULowering,
      [](function_ref<void(const detail::PassOptions &)> handleOptions) { handleOptions(CPUTargetOptions()); });
}
