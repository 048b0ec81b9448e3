// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which every program goes through the passes from resid to resid.

#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::resid;

RaiseLevel resid::readRaiseLevel(StringRef name) {
  return name == "off" ? RaiseLevel::Off : name == "all" ? RaiseLevel::All : RaiseLevel::Exact;
}

GradSave resid::readGradSave(StringRef name) {
  return name == "min" ? GradSave::Min : name == "all" ? GradSave::All : GradSave::Default;
}

void resid::buildResidPassPipeline(OpPassManager &manager, const ResidPassOptions &options) {
  if (options.mode == ProgramMode::Inference)
    manager.addPass(createInference(InferenceOptions{options.report}));
  manager.addPass(createExpandBlocks(ExpandBlocksOptions{options.report}));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createFuseAddNorm(FuseAddNormOptions{options.report}));
}

namespace {
/// The text form of ResidPassOptions.
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<ProgramMode> mode{*this, "mode", llvm::cl::desc("what the program is compiled for"),
                           llvm::cl::init(ProgramMode::Training),
                           llvm::cl::values(clEnumValN(ProgramMode::Training, "training", "dropout as written"),
                                            clEnumValN(ProgramMode::Inference, "inference", "dropout removed"))};
  Option<bool> report{*this, "report", llvm::cl::desc("emit remarks where a pass fires and where it refuses"),
                      llvm::cl::init(false)};
};
} // namespace

void resid::registerResidPipelines() {
  PassPipelineRegistration<PipelineOptions>("resid-passes",
                                            "the passes from resid to resid that every program goes through",
                                            [](OpPassManager &manager, const PipelineOptions &options) {
                                              buildResidPassPipeline(manager, {options.mode, options.report});
                                            });
}
