// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scratch memory of each kind of kernel. Its layout stands in PanelMemory.h, AttentionMemory.h, BackwardMemory.h and
// rows/RowPartition.h.

#include "codegen/cpu/CountScratch.h"

#include "codegen/cpu/attention/BackwardMemory.h"
#include "codegen/cpu/contractions/PanelMemory.h"
#include "codegen/rows/RowPartition.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using kernels::Extent;
using kernels::ScratchShape;

static ScratchShape countBytes(OpBuilder &builder, Value bytes) { return {builder.getI8Type(), {bytes}}; }

/// What a contraction packs.
static FailureOr<ScratchShape> countPanels(OpBuilder &builder, contraction::KernelOp kernel) {
  Location loc = kernel.getLoc();
  auto loops = contraction::KernelLoops::create(builder, kernel);
  if (failed(loops))
    return failure();
  PanelMemory memory = PanelMemory::create(builder, loc, *loops);
  if (memory.aBytes.is(0) && memory.bBytes.is(0))
    return ScratchShape();
  return countBytes(builder, builder.createOrFold<arith::AddIOp>(loc, memory.aBytes.value, memory.bBytes.value));
}

/// A slot for each of the tasks that the units of attention make.
template <typename OpTy> static FailureOr<ScratchShape> countSlots(OpBuilder &builder, OpTy kernel) {
  Location loc = kernel.getLoc();
  auto shape = attention::AttentionShape::create(builder, kernel);
  if (failed(shape))
    return failure();
  Extent units, bytes;
  if (shape->isBackward) {
    units = BackwardMemory::countUnits(builder, loc, *shape);
    bytes = BackwardMemory(*shape).countBytes(builder, loc, *shape);
  } else {
    units = AttentionMemory::countUnits(builder, loc, *shape);
    bytes = kernels::makeExtent(builder, loc, AttentionMemory(*shape).bytes);
  }
  Value most = kernels::makeExtent(builder, loc, kMostTasks).value;
  Value tasks = builder.createOrFold<arith::MinSIOp>(loc, units.value, most);
  return countBytes(builder, builder.createOrFold<arith::MulIOp>(loc, tasks, bytes.value));
}

FailureOr<ScratchShape> cpu::countScratch(OpBuilder &builder, kernels::KernelOpInterface kernel) {
  using Result = FailureOr<ScratchShape>;
  return TypeSwitch<Operation *, Result>(kernel)
      .Case([&](rows::KernelOp rows) -> Result { return rows::SumMemory::count(builder, rows); })
      .Case([&](contraction::KernelOp contraction) { return countPanels(builder, contraction); })
      .Case([&](attention::KernelOp attention) { return countSlots(builder, attention); })
      .Case([&](attention::BackwardOp backward) { return countSlots(builder, backward); });
}
