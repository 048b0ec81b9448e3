// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-place-streams: kernels write streams that are joined after them to where they are joined.

#include "codegen/buffers/Passes.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"

namespace mlir::resid::buffers {
#define GEN_PASS_DEF_PLACESTREAMS
#include "codegen/buffers/Passes.h.inc"
} // namespace mlir::resid::buffers

using namespace mlir;
using namespace mlir::resid;

/// Whether `tensor` is there before `op`, if need be by moving it: an empty one hangs on sizes alone.
static bool bringBefore(Value tensor, Operation *op) {
  DominanceInfo dominance;
  if (dominance.properlyDominates(tensor, op))
    return true;
  auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
  if (!empty || empty->getBlock() != op->getBlock() ||
      !llvm::all_of(empty->getOperands(), [&](Value size) { return dominance.properlyDominates(size, op); }))
    return false;
  empty->moveBefore(op);
  return true;
}

static void placeStream(rows::JoinStreamsOp join, OpOperand &stream) {
  auto kernel = stream.get().getDefiningOp<kernels::KernelOpInterface>();
  if (!kernel || kernel->getBlock() != join->getBlock())
    return;
  OpOperand *made = kernel.getTiedOpOperand(cast<OpResult>(stream.get()));
  if (!made->get().getDefiningOp<tensor::EmptyOp>() || !bringBefore(join.getInit(), kernel))
    return;
  OpBuilder builder(kernel);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, join.getLoc(), join.getInit());
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
      steps(sizes.size(), builder.getIndexAttr(1));
  sizes.end()[-2] = builder.getIndexAttr(1);
  offsets.end()[-2] = builder.getIndexAttr(stream.getOperandNumber());
  made->set(tensor::ExtractSliceOp::create(builder, join.getLoc(), cast<RankedTensorType>(stream.get().getType()),
                                           join.getInit(), offsets, sizes, steps));
}

namespace {
struct PlaceStreams : public buffers::impl::PlaceStreamsBase<PlaceStreams> {
  void runOnOperation() override {
    getOperation()->walk([](rows::JoinStreamsOp join) {
      for (OpOperand &stream : join.getStreamsMutable())
        placeStream(join, stream);
    });
  }
};
} // namespace
