// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass resid-carry-loop-tensors: what a loop carries stays in one buffer.

#include "codegen/linalg/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::resid {
#define GEN_PASS_DEF_CARRYLOOPTENSORS
#include "codegen/linalg/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;

/// Whether `value` is what inner loops carried on from `start`, and nothing else reads the start: these loops write
/// into its buffer themselves.
static bool isCarriedByInnerLoops(Value value, Value start) {
  while (auto inner = value.getDefiningOp<scf::ForOp>()) {
    value = inner.getTiedLoopInit(cast<OpResult>(value))->get();
    if (!value.hasOneUse())
      return false;
  }
  return value == start;
}

/// Writes each tensor that the loop hands on into the tensor it was handed.
static void carryInPlace(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  OpBuilder builder(yield);
  for (auto [next, carried] : llvm::zip_equal(yield->getOpOperands(), loop.getRegionIterArgs())) {
    if (!isa<RankedTensorType>(carried.getType()) || isCarriedByInnerLoops(next.get(), carried))
      continue;
    auto written = bufferization::MaterializeInDestinationOp::create(builder, loop.getLoc(), carried.getType(),
                                                                     next.get(), carried);
    next.set(written.getResult());
  }
}

namespace {
struct CarryLoopTensors : resid::impl::CarryLoopTensorsBase<CarryLoopTensors> {
  void runOnOperation() override { getOperation()->walk(carryInPlace); }
};
} // namespace
