// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which every program goes through the passes from resid to resid.

#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::resid;

#include "passes/Choices.cpp.inc"

void resid::buildResidPassPipeline(OpPassManager &manager, const ResidPassOptions &options) {
  manager.addPass(createExpandQuantizedResults());
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
  PipelineOptions() {
    for (uint32_t value = 0; value <= getMaxEnumValForProgramMode(); ++value)
      if (std::optional<ProgramMode> choice = symbolizeProgramMode(value))
        mode.getParser().addLiteralOption(stringifyProgramMode(*choice), *choice, "");
  }

  Option<ProgramMode> mode{*this, "mode", llvm::cl::desc("what the program is compiled for"),
                           llvm::cl::init(ProgramMode::Training)};
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
