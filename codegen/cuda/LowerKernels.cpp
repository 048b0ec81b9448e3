// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines each rows.kernel into a function that a GPU runs, and refuses what else touches memory.

#include "codegen/cuda/Passes.h"
#include "codegen/cuda/Transfers.h"
#include "codegen/cuda/rows/Guards.h"
#include "codegen/cuda/rows/RowKernels.h"

namespace mlir::resid::cuda {
#define GEN_PASS_DEF_LOWERKERNELS
#include "codegen/cuda/Passes.h.inc"
} // namespace mlir::resid::cuda

using namespace mlir;
using namespace mlir::resid;

/// Whether the host can run an op though arrays lie in the memory of a device: it computes with scalars, or where
/// arrays are.
static bool isForHost(Operation *op) {
  if (isa<memref::MemRefDialect>(op->getDialect()))
    return isa<memref::GlobalOp>(op) || (isMemoryEffectFree(op) && !isa<memref::GetGlobalOp>(op));
  StringRef dialect = op->getName().getDialectNamespace();
  return llvm::is_contained({"arith", "builtin", "cf", "func", "index", "llvm", "math", "rows", "scf", "ub"}, dialect);
}

/// In the words of who wrote the program, not of stages.
static void refuse(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  std::string what = "'" + op->getName().getStringRef().str() + "' op is";
  if (dialect == "contraction")
    what = "a matrix product, such as that of a linear layer, is";
  if (dialect == "attention")
    what = "attention is";
  if (isa<memref::GetGlobalOp>(op))
    what = "an array of constants is";
  op->emitError(what) << " not available on CUDA targets: expected row-wise ops only, such as adds, norms and dropout";
}

namespace {

class Lowering : public kernels::KernelLowering {
public:
  Lowering(ModuleOp module, const cuda::RowSchedule &schedule) : KernelLowering(module), schedule(schedule) {}

  FailureOr<std::unique_ptr<kernels::KernelCode>> createCode(kernels::KernelUse use) override {
    return std::unique_ptr<kernels::KernelCode>(std::make_unique<cuda::RowKernel>(use, symbols, schedule, functions));
  }

private:
  const cuda::RowSchedule &schedule;
  /// How many there are so far.
  int64_t functions = 0;
};

struct LowerKernels : cuda::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  void runOnOperation() override {
    cuda::guardKernels(getOperation());
    SmallVector<Operation *> transfers;
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<rows::KernelOp>(op))
        return WalkResult::skip();
      if (isForHost(op))
        return WalkResult::advance();
      if (cuda::isTransfer(op)) {
        transfers.push_back(op);
        return WalkResult::skip();
      }
      refuse(op);
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (Operation *transfer : transfers)
      if (failed(cuda::lowerTransfer(transfer)))
        return signalPassFailure();
    auto weights = keepWeights ? cuda::WeightKind::Registers : cuda::WeightKind::Reload;
    cuda::RowSchedule schedule{lanes, blockRows, weights};
    Lowering lowering(getOperation(), schedule);
    if (failed(kernels::lowerKernels(getOperation(), lowering)))
      signalPassFailure();
  }
};

} // namespace
