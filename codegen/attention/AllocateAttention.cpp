// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for the tasks of attention. Not: how it is laid out (AttentionMemory.h).

#include "codegen/attention/AttentionMemory.h"
#include "codegen/attention/Passes.h"

namespace mlir::resid::attention {
#define GEN_PASS_DEF_ALLOCATEATTENTION
#include "codegen/attention/Passes.h.inc"
} // namespace mlir::resid::attention

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::attention;

static LogicalResult allocateSlots(attention::KernelOp kernel) {
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  FailureOr<AttentionShape> shape = AttentionShape::create(builder, kernel);
  if (failed(shape))
    return failure();
  AttentionMemory memory(*shape);
  Number units = AttentionMemory::countUnits(builder, loc, *shape);
  SmallVector<Value> open;
  int64_t known = ShapedType::kDynamic;
  if (units.isKnown()) {
    known = std::min(units.known, kMostTasks) * memory.bytes;
  } else {
    Value most = contraction::makeNumber(builder, loc, kMostTasks).value;
    Value tasks = arith::MinSIOp::create(builder, loc, units.value, most);
    Value bytes = arith::MulIOp::create(builder, loc, tasks, contraction::makeNumber(builder, loc, memory.bytes).value);
    open.push_back(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), bytes));
  }
  auto type = MemRefType::get({known}, builder.getI8Type());
  kernel.getScratchMutable().assign(memref::AllocOp::create(builder, loc, type, open));
  return success();
}

namespace {
struct AllocateAttention : public attention::impl::AllocateAttentionBase<AllocateAttention> {
  void runOnOperation() override {
    SmallVector<attention::KernelOp> kernels;
    getOperation()->walk([&](attention::KernelOp kernel) {
      if (kernel->getNumResults() == 0 && !kernel.getScratch())
        kernels.push_back(kernel);
    });
    for (attention::KernelOp kernel : kernels)
      if (failed(allocateSlots(kernel)))
        return signalPassFailure();
  }
};
} // namespace
