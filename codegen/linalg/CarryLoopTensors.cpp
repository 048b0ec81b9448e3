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

/// Writes each tensor that the loop hands on into the tensor it was handed.
static void carryInPlace(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  OpBuilder builder(yield);
  for (auto [next, carried] : llvm::zip_equal(yield->getOpOperands(), loop.getRegionIterArgs())) {
    if (!isa<RankedTensorType>(carried.getType()) || next.get() == carried)
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
