// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What programs have beside row kernels, to loops and address arithmetic. Programs of kernels alone pay nothing.

#include "codegen/cpu/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_LOWERLOOPNESTS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;

namespace {

bool isLoopNest(Operation *op) {
  return isa<scf::ForallOp>(op) || isa_and_present<linalg::LinalgDialect, affine::AffineDialect>(op->getDialect());
}

/// Whether `op` may make a buffer of another one. What only asks about buffers has conversions of its own.
bool isView(Operation *op) {
  return isa_and_present<memref::MemRefDialect>(op->getDialect()) &&
         !isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp, memref::DimOp,
              memref::ExtractAlignedPointerAsIndexOp, memref::ExtractStridedMetadataOp, memref::GetGlobalOp,
              memref::GlobalOp, memref::LoadOp, memref::StoreOp>(op);
}

struct LowerLoopNests : public cpu::impl::LowerLoopNestsBase<LowerLoopNests> {
  void runOnOperation() override {
    bool hasLoopNests = false, hasViews = false;
    getOperation().walk([&](Operation *op) {
      hasLoopNests |= isLoopNest(op);
      hasViews |= isView(op);
    });
    OpPassManager manager(ModuleOp::getOperationName());
    if (hasLoopNests) {
      manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
      manager.addNestedPass<func::FuncOp>(createForallToForLoopPass());
    }
    if (hasLoopNests || hasViews) {
      manager.addPass(memref::createFoldMemRefAliasOpsPass());
      manager.addPass(memref::createExpandStridedMetadataPass());
      manager.addPass(createLowerAffinePass());
      manager.addPass(createCanonicalizerPass());
    }
    if (failed(runPipeline(manager, getOperation())))
      signalPassFailure();
  }
};

} // namespace
