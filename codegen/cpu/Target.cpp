// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/Target.h"

#include "codegen/cpu/CountScratch.h"
#include "codegen/cpu/DescribeKernels.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/choice/LocalRows.h"

using namespace mlir;
using namespace mlir::resid;
using machine::TargetDescription;

namespace {

class CPU : public kernels::Target {
public:
  explicit CPU(std::vector<TargetDescription> processors) : processors(std::move(processors)) {}

  StringRef getName() const override { return "CPU"; }
  ArrayRef<TargetDescription> getProcessors() const override { return processors; }
  kernels::LocalRowLimits getLocalRowLimits() const override {
    return cpu::getLocalRowLimits(processors.front().facts.schedule);
  }
  FailureOr<kernels::ScratchShape> countScratch(OpBuilder &builder, kernels::KernelOpInterface kernel) const override {
    return cpu::countScratch(builder, kernel);
  }
  std::vector<kernels::PlanDescription> describe(Operation *kernel) const override {
    std::vector<kernels::PlanDescription> plans;
    for (const TargetDescription &processor : processors)
      plans.push_back(cpu::describeKernel(kernel, processor.cpu, processor.facts));
    return plans;
  }
  std::vector<kernels::PlanDecision> describeTogether(Operation *together,
                                                      ArrayRef<std::string> others) const override {
    std::vector<kernels::PlanDecision> decisions;
    for (const TargetDescription &processor : processors)
      decisions.push_back(cpu::describeRowBlocks(cast<contraction::RowBlocksOp>(together), others, processor.facts));
    return decisions;
  }
  void buildLowering(OpPassManager &manager, const TargetDescription &processor) const override {
    cpu::buildCPULoweringPipeline(manager, processor.facts);
  }

private:
  std::vector<TargetDescription> processors;
};

} // namespace

std::shared_ptr<const kernels::Target> cpu::makeTarget(std::vector<TargetDescription> processors) {
  return std::make_shared<CPU>(std::move(processors));
}
