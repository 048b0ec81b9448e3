// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of what a task of attention keeps.

#include "codegen/cpu/attention/AttentionMemory.h"

#include "dialect/WeightPanels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::attention;
using namespace mlir::resid::cpu;

int64_t cpu::getBytes(Type element) { return element.getIntOrFloatBitWidth() / 8; }

int64_t cpu::alignToOddLines(int64_t elements, int64_t bytes) {
  int64_t lines = llvm::divideCeil(elements * bytes, kLineBytes) | 1;
  return lines * kLineBytes / bytes;
}

AttentionMemory::AttentionMemory(const AttentionShape &shape) {
  int64_t wide = getBytes(shape.arithmetic);
  Type key = shape.operands[AttentionShape::kK].elementType, value = shape.operands[AttentionShape::kV].elementType;
  paddedSize = llvm::alignTo(shape.getValueSize(), kPanelColumns);
  queryStride = alignToOddLines(shape.getHeadSize(), wide);
  scoreStride = alignToOddLines(kChunkKeys, wide);
  keyPanel = llvm::alignTo(shape.getHeadSize(), getInterleavedTerms(key)) * kPanelColumns;
  valuePanel = kChunkKeys * kPanelColumns;
  bytes = 0;
  auto take = [&](int64_t elements, int64_t elementBytes) {
    int64_t offset = bytes;
    bytes += llvm::alignTo(elements * elementBytes, kLineBytes);
    return offset;
  };
  queries = take(kUnitRows * queryStride, wide);
  keys = take(kChunkKeys / kPanelColumns * keyPanel, getBytes(key));
  values = take(paddedSize / kPanelColumns * valuePanel, getBytes(value));
  scores = take(kScoreRows * scoreStride, wide);
  sums = take(kScoreRows * paddedSize, wide);
  states = take(kUnitRows * paddedSize, wide);
  maxima = take(kUnitRows, wide);
  totals = take(kUnitRows, wide);
}

Extent AttentionMemory::countUnits(OpBuilder &builder, Location loc, const AttentionShape &shape) {
  auto number = [&](int64_t known) { return kernels::makeExtent(builder, loc, known); };
  auto times = [&](Extent a, Extent b) { return kernels::multiply(builder, loc, a, b); };
  Extent rows = times(shape.group, shape.queries), blocks;
  if (rows.isKnown()) {
    blocks = number(llvm::divideCeil(rows.known, kUnitRows));
  } else {
    Value more = builder.createOrFold<arith::AddIOp>(loc, rows.value, number(kUnitRows - 1).value);
    blocks = {builder.createOrFold<arith::DivUIOp>(loc, more, number(kUnitRows).value)};
  }
  return times(times(shape.batches, shape.keyHeads), blocks);
}
