// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for what contractions pack. Not: how it is laid out (PanelMemory.h).

#include "codegen/contractions/PanelMemory.h"
#include "codegen/contractions/Passes.h"

namespace mlir::resid::contraction {
#define GEN_PASS_DEF_ALLOCATEPANELS
#include "codegen/contractions/Passes.h.inc"
} // namespace mlir::resid::contraction

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::contraction;

static LogicalResult allocatePanels(contraction::KernelOp kernel) {
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  FailureOr<KernelLoops> loops = KernelLoops::create(builder, kernel);
  if (failed(loops))
    return failure();
  PanelMemory memory = PanelMemory::create(builder, loc, *loops);
  if (memory.aBytes.is(0) && memory.bBytes.is(0))
    return success();
  SmallVector<Value> open;
  int64_t known = ShapedType::kDynamic;
  if (memory.aBytes.isKnown() && memory.bBytes.isKnown()) {
    known = memory.aBytes.known + memory.bBytes.known;
  } else {
    Value bytes = arith::AddIOp::create(builder, loc, memory.aBytes.value, memory.bBytes.value);
    open.push_back(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), bytes));
  }
  auto type = MemRefType::get({known}, builder.getI8Type());
  kernel.getScratchMutable().assign(memref::AllocOp::create(builder, loc, type, open));
  return success();
}

namespace {
struct AllocatePanels : public contraction::impl::AllocatePanelsBase<AllocatePanels> {
  void runOnOperation() override {
    SmallVector<contraction::KernelOp> kernels;
    getOperation()->walk([&](contraction::KernelOp kernel) {
      if (!kernel.getResult() && !kernel.getScratch())
        kernels.push_back(kernel);
    });
    for (contraction::KernelOp kernel : kernels)
      if (failed(allocatePanels(kernel)))
        return signalPassFailure();
  }
};
} // namespace
