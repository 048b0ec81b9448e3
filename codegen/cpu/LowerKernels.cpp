// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a CPU does with the kernels of a module: which code each kind gets, and which kernels run together.

#include "codegen/cpu/Passes.h"
#include "codegen/cpu/attention/AttentionFunctions.h"
#include "codegen/cpu/blocks/RowBlockCalls.h"
#include "codegen/cpu/choice/LocalRows.h"
#include "codegen/cpu/loops/LaneLoopFunctions.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_LOWERKERNELS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

namespace {

class Lowering : public kernels::KernelLowering {
public:
  Lowering(ModuleOp module, const CPUTarget &target)
      : KernelLowering(module), target(target), microKernels(symbols, target) {
    SmallVector<contraction::RowBlocksOp> groups;
    module.walk([&](contraction::RowBlocksOp blocks) { groups.push_back(blocks); });
    for (contraction::RowBlocksOp group : groups) {
      auto blocks = std::make_unique<RowBlockCalls>(group);
      for (Operation *op : blocks->getOps())
        rowBlocks[op] = blocks.get();
      allRowBlocks.push_back(std::move(blocks));
    }
  }

  SmallVector<Operation *> findKernels(ModuleOp module) override {
    SmallVector<Operation *> kernels;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (std::optional<TakenLaneLoop> loop = TakenLaneLoop::find(op))
        laneLoops.insert({op, *loop});
      else if (!isa<kernels::KernelOpInterface>(op))
        return WalkResult::advance();
      kernels.push_back(op);
      return WalkResult::skip();
    });
    takeStackOnce(module);
    return kernels;
  }

  /// Steps of a loop that is no kernel have one stack memory after the other.
  void takeStackOnce(ModuleOp module) {
    module.walk([&](memref::AllocaOp memory) {
      auto function = memory->getParentOfType<func::FuncOp>();
      scf::ForOp loop = memory->getParentOfType<scf::ForOp>();
      while (loop && !laneLoops.contains(loop))
        loop = loop->getParentOfType<scf::ForOp>();
      if (function && !loop)
        memory->moveBefore(&function.getBody().front(), function.getBody().front().begin());
    });
  }

  FailureOr<kernels::KernelUse> prepare(Operation *op) override {
    auto loop = laneLoops.find(op);
    return loop == laneLoops.end() ? KernelLowering::prepare(op) : loop->second.createUse();
  }

  FailureOr<std::unique_ptr<kernels::KernelCode>> createCode(kernels::KernelUse use) override {
    if (isa<scf::ForOp>(use.op))
      return create<LaneLoopFunctions>(laneLoops.at(use.op), use, symbols, target);
    if (auto kernel = dyn_cast<rows::KernelOp>(use.op)) {
      if (std::optional<std::string> obstacle = findLocalRowObstacle(kernel, target.schedule.table))
        return kernel.emitOpError(*obstacle);
      return create<RowFunctions>(use, planKernel(kernel, target), symbols, target);
    }
    if (isa<contraction::KernelOp>(use.op))
      return create<ContractionFunctions>(use, symbols, target, microKernels);
    if (isa<attention::KernelOp, attention::BackwardOp>(use.op))
      return createAttention(use);
    return use.op->emitOpError("is not available on CPU targets");
  }

  FailureOr<std::unique_ptr<kernels::KernelCode>> createAttention(kernels::KernelUse &use) {
    if (!use.as<attention::AttentionShape>().scratch)
      return use.op->emitOpError("expected scratch memory");
    return create<AttentionFunction>(use, symbols, target, microKernels);
  }

  LogicalResult launch(MutableArrayRef<kernels::LoweredKernel> kernels) override {
    for (kernels::LoweredKernel &kernel : kernels)
      if (RowBlockCalls *blocks = rowBlocks.lookup(kernel.use.op))
        blocks->add(kernel);
      else if (failed(kernel.code->launch(kernel.use)))
        return failure();
    return success(llvm::all_of(allRowBlocks, [&](const auto &blocks) {
      return succeeded(blocks->launch(target.schedule.table.productRowBlocks));
    }));
  }

private:
  const CPUTarget &target;
  MicroKernels microKernels;
  std::vector<std::unique_ptr<RowBlockCalls>> allRowBlocks;
  /// By the kernels that they run.
  llvm::DenseMap<Operation *, RowBlockCalls *> rowBlocks;
  llvm::DenseMap<Operation *, TakenLaneLoop> laneLoops;
};

struct LowerKernels : cpu::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  /// A schedule that is none is a wrong flag, which is said before any program is read.
  LogicalResult initializeOptions(StringRef options, function_ref<LogicalResult(const Twine &)> errorHandler) override {
    if (failed(LowerKernelsBase::initializeOptions(options, errorHandler)))
      return failure();
    llvm::Expected<Schedule> parsed = parseSchedule(schedule);
    return parsed ? success() : errorHandler(llvm::toString(parsed.takeError()));
  }

  void runOnOperation() override {
    CPUTarget target;
#define RESID_KERNEL_FACT(TYPE, MEMBER, OPTION, DEFAULT, MEANING) target.MEMBER = this->MEMBER;
#include "codegen/cpu/choice/CPUFacts.def"
    llvm::Expected<Schedule> parsed = parseSchedule(schedule);
    if (llvm::Error error = parsed ? target.use(*parsed) : parsed.takeError()) {
      getOperation().emitError(llvm::toString(std::move(error)));
      return signalPassFailure();
    }
    Lowering lowering(getOperation(), target);
    if (failed(kernels::lowerKernels(getOperation(), lowering)))
      signalPassFailure();
  }
};

} // namespace
