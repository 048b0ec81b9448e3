// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for the tasks of attention. Not: how it is laid out (AttentionMemory.h, BackwardMemory.h).

#include "codegen/attention/BackwardMemory.h"
#include "codegen/attention/Passes.h"

namespace mlir::resid::attention {
#define GEN_PASS_DEF_ALLOCATEATTENTION
#include "codegen/attention/Passes.h.inc"
} // namespace mlir::resid::attention

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::attention;

/// A slot for each of the tasks that so many units make.
static Value allocateSlots(OpBuilder &builder, Location loc, Number units, Number bytes) {
  if (units.isKnown() && bytes.isKnown()) {
    auto type = MemRefType::get({std::min(units.known, kMostTasks) * bytes.known}, builder.getI8Type());
    return memref::AllocOp::create(builder, loc, type);
  }
  Value most = kernels::makeNumber(builder, loc, kMostTasks).value;
  Value tasks = arith::MinSIOp::create(builder, loc, units.value, most);
  Value all = arith::MulIOp::create(builder, loc, tasks, bytes.value);
  Value size = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), all);
  return memref::AllocOp::create(builder, loc, MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()), size);
}

static Number countBytes(OpBuilder &builder, attention::KernelOp kernel, const AttentionShape &shape) {
  return kernels::makeNumber(builder, kernel.getLoc(), AttentionMemory(shape).bytes);
}

static Number countBytes(OpBuilder &builder, attention::BackwardOp kernel, const AttentionShape &shape) {
  return BackwardMemory(shape).countBytes(builder, kernel.getLoc(), shape);
}

template <typename OpTy> static LogicalResult allocateSlots(OpTy kernel) {
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  FailureOr<AttentionShape> shape = AttentionShape::create(builder, kernel);
  if (failed(shape))
    return failure();
  constexpr bool isBackward = std::is_same_v<OpTy, attention::BackwardOp>;
  Number units =
      isBackward ? BackwardMemory::countUnits(builder, loc, *shape) : AttentionMemory::countUnits(builder, loc, *shape);
  kernel.getScratchMutable().assign(allocateSlots(builder, loc, units, countBytes(builder, kernel, *shape)));
  return success();
}

template <typename OpTy> static LogicalResult allocateAll(Operation *root) {
  SmallVector<OpTy> kernels;
  root->walk([&](OpTy kernel) {
    if (kernel->getNumResults() == 0 && !kernel.getScratch())
      kernels.push_back(kernel);
  });
  return success(llvm::all_of(kernels, [](OpTy kernel) { return succeeded(allocateSlots(kernel)); }));
}

namespace {
struct AllocateAttention : public attention::impl::AllocateAttentionBase<AllocateAttention> {
  void runOnOperation() override {
    if (failed(allocateAll<attention::KernelOp>(getOperation())) ||
        failed(allocateAll<attention::BackwardOp>(getOperation())))
      signalPassFailure();
  }
};
} // namespace
