// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What programs have beside row kernels, to loops and address arithmetic. Programs of kernels alone pay nothing.

#include "codegen/cpu/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

/// Whether the sizes of the expanded buffer follow from its output shape only. The upstream expansion of metadata
/// computes them from the source, and crashes or divides by 0 on such groups (llvm/llvm-project#186830, mended in LLVM
/// 23).
bool needsOutputShape(memref::ExpandShapeOp expand) {
  MemRefType type = expand.getResultType();
  return llvm::any_of(expand.getReassociationIndices(), [&](ArrayRef<int64_t> group) {
    int64_t open = llvm::count_if(group, [&](int64_t dimension) { return type.isDynamicDim(dimension); });
    return open > 1 ||
           (open == 1 && llvm::any_of(group, [&](int64_t dimension) { return type.getDimSize(dimension) == 0; }));
  });
}

/// Writes the expanded view by its sizes and strides. Within a group, each stride is the next one times the next size.
void expandByOutputShape(memref::ExpandShapeOp expand) {
  OpBuilder builder(expand);
  Location loc = expand.getLoc();
  MemRefType type = expand.getResultType();
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, expand.getSrc());
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape(), strides(sizes.size());
  auto [staticStrides, staticOffset] = type.getStridesAndOffset();
  for (auto [group, stride] : llvm::zip_equal(expand.getReassociationIndices(), metadata.getStrides())) {
    Value next = stride;
    for (int64_t dimension : llvm::reverse(group)) {
      bool isOpen = ShapedType::isDynamic(staticStrides[dimension]);
      strides[dimension] = isOpen ? OpFoldResult(next) : builder.getIndexAttr(staticStrides[dimension]);
      Value size = getValueOrCreateConstantIndexOp(builder, loc, sizes[dimension]);
      next = arith::MulIOp::create(builder, loc, next, size);
    }
  }
  OpFoldResult offset =
      ShapedType::isDynamic(staticOffset) ? OpFoldResult(metadata.getOffset()) : builder.getIndexAttr(staticOffset);
  Value view = memref::ReinterpretCastOp::create(builder, loc, type, expand.getSrc(), offset, sizes, strides);
  expand.getResult().replaceAllUsesWith(view);
  expand.erase();
}

struct LowerLoopNests : public cpu::impl::LowerLoopNestsBase<LowerLoopNests> {
  void runOnOperation() override {
    bool hasLoopNests = false, hasViews = false;
    getOperation().walk([](memref::ExpandShapeOp expand) {
      if (needsOutputShape(expand))
        expandByOutputShape(expand);
    });
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
