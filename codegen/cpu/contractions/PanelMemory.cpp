// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of what a contraction packs.

#include "codegen/cpu/contractions/PanelMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::contraction;
using namespace mlir::resid::cpu;

static Extent ceilDivide(OpBuilder &builder, Location loc, Extent number, int64_t by) {
  if (number.isKnown())
    return makeExtent(builder, loc, llvm::divideCeil(number.known, by));
  Value raised = arith::AddIOp::create(builder, loc, number.value, makeExtent(builder, loc, by - 1).value);
  return {arith::DivUIOp::create(builder, loc, raised, makeExtent(builder, loc, by).value)};
}

static Extent alignTo(OpBuilder &builder, Location loc, Extent number, int64_t by) {
  return multiply(builder, loc, ceilDivide(builder, loc, number, by), makeExtent(builder, loc, by));
}

/// An odd multiple of `by`, a power of two, that is `number` at least.
static Extent alignToOdd(OpBuilder &builder, Location loc, Extent number, int64_t by) {
  Extent aligned = alignTo(builder, loc, number, by);
  if (aligned.isKnown())
    return makeExtent(builder, loc, aligned.known | by);
  return {arith::OrIOp::create(builder, loc, aligned.value, makeExtent(builder, loc, by).value)};
}

Value PanelMemory::hasFewRows(OpBuilder &builder, Location loc, const KernelLoops &loops) {
  Value few = makeExtent(builder, loc, kFewRows).value;
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, loops.m.size.value, few);
}

PanelMemory PanelMemory::create(OpBuilder &builder, Location loc, const KernelLoops &loops) {
  PanelMemory memory;
  // Rows that are scaled are copied where they are used, if need be, and not ahead.
  memory.packsA = loops.hasRowScale ? !loops.hasContiguousRows() : !loops.readsAInPlace();
  const Extent &mSize = loops.m.size;
  int64_t fewRows = loops.bGroup == 0 ? kFewKnownRows : kFewRows;
  memory.mayPackParts =
      loops.packedColumns == 0 && loops.contracted.size() == 1 && (!mSize.isKnown() || mSize.known <= fewRows);
  memory.packsB = loops.packedColumns == 0 && !(memory.mayPackParts && mSize.isKnown());
  auto number = [&](int64_t known) { return makeExtent(builder, loc, known); };
  auto times = [&](Extent a, Extent b) { return multiply(builder, loc, a, b); };
  memory.contracted = number(1);
  for (const contraction::Loop &loop : loops.contracted)
    memory.contracted = times(memory.contracted, loop.size);
  memory.aBatches = memory.bBatches = number(1);
  for (const contraction::Loop &loop : loops.batches) {
    if (!loop.strides[KernelLoops::kA].is(0))
      memory.aBatches = times(memory.aBatches, loop.size);
    if (!loop.strides[KernelLoops::kB].is(0))
      memory.bBatches = times(memory.bBatches, loop.size);
  }
  memory.aType = loops.isInteger() ? loops.operands[KernelLoops::kA].elementType : loops.arithmetic;
  int64_t aElementBytes = memory.aType.getIntOrFloatBitWidth() / 8;
  Extent length = memory.contracted;
  // The last terms of integers are made whole groups by zeros, and the sum of the row comes after them.
  if (loops.isInteger()) {
    Extent whole = times(alignTo(builder, loc, length, getInterleavedTerms(memory.aType)), number(kMostByteParts));
    length = whole.isKnown() ? number(whole.known + kRowSumBytes)
                             : Extent{arith::AddIOp::create(builder, loc, whole.value, number(kRowSumBytes).value)};
  }
  memory.rowLength = alignToOdd(builder, loc, length, kernels::kScratchAlignment / aElementBytes);
  Type bType = loops.getFactorType();
  memory.panels = ceilDivide(builder, loc, loops.n.size, kPanelColumns);
  memory.panelLength =
      times(alignTo(builder, loc, memory.contracted, getInterleavedTerms(bType)), number(kPanelColumns));
  // A single panel of other columns than 16 is read as panels that lie within each other.
  if (loops.packedColumns != 0 && loops.packedColumns != kPanelColumns) {
    memory.termLength = loops.packedColumns;
    memory.panelLength = number(kPanelColumns * getInterleavedTerms(bType));
  }
  Extent rows = times(memory.aBatches, loops.m.size);
  Extent matrixLength = times(memory.panels, memory.panelLength);
  int64_t bBytes = bType.getIntOrFloatBitWidth() / 8;
  memory.aBytes = memory.packsA ? times(times(rows, memory.rowLength), number(aElementBytes)) : number(0);
  memory.bBytes = memory.packsB ? times(times(memory.bBatches, matrixLength), number(bBytes)) : number(0);
  if (memory.packsB && memory.mayPackParts)
    memory.bBytes = {
        arith::SelectOp::create(builder, loc, hasFewRows(builder, loc, loops), number(0).value, memory.bBytes.value)};
  return memory;
}
