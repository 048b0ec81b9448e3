// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of what a task of the backward of attention keeps.

#include "codegen/cpu/attention/BackwardMemory.h"

#include "dialect/WeightPanels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::attention;
using namespace mlir::resid::cpu;

BackwardMemory::BackwardMemory(const AttentionShape &shape) {
  int64_t wide = getBytes(shape.arithmetic), size = shape.getHeadSize(), valueSize = shape.getValueSize();
  Type key = shape.operands[AttentionShape::kK].elementType, value = shape.operands[AttentionShape::kV].elementType;
  paddedSize = llvm::alignTo(size, kPanelColumns);
  int64_t paddedValues = llvm::alignTo(valueSize, kPanelColumns);
  queryStride = alignToOddLines(paddedSize, wide);
  gradientStride = alignToOddLines(paddedValues, wide);
  scoreStride = alignToOddLines(kChunkKeys, wide);
  turnedStride = alignToOddLines(kBackwardRows, wide);
  keyPanel = llvm::alignTo(size, getInterleavedTerms(key)) * kPanelColumns;
  valuePanel = llvm::alignTo(valueSize, getInterleavedTerms(value)) * kPanelColumns;
  columnPanel = kChunkKeys * kPanelColumns;
  scorePanel = kBackwardRows * kPanelColumns;
  int64_t bytes = 0, chunkPanels = kChunkKeys / kPanelColumns;
  auto take = [&](int64_t elements, int64_t elementBytes) {
    int64_t offset = bytes;
    bytes += llvm::alignTo(elements * elementBytes, kLineBytes);
    return offset;
  };
  queries = take(kBackwardRows * queryStride, wide);
  gradients = take(kBackwardRows * gradientStride, wide);
  turnedQueries = take(paddedSize * turnedStride, wide);
  turnedGradients = take(paddedValues * turnedStride, wide);
  maxima = take(kBackwardRows, wide);
  totals = take(kBackwardRows, wide);
  means = take(kBackwardRows, wide);
  panels = take(chunkPanels * scorePanel, wide);
  sums = take(kBackwardRows * paddedSize, wide);
  blockBytes = bytes;
  bytes = 0;
  keys = take(chunkPanels * keyPanel, getBytes(key));
  values = take(chunkPanels * valuePanel, getBytes(value));
  columns = take(paddedSize / kPanelColumns * columnPanel, getBytes(key));
  weights = take(kBackwardRows * scoreStride, wide);
  scoreGradients = take(kBackwardRows * scoreStride, wide);
  slopes = take(shape.cap == 0 ? 0 : kBackwardRows * scoreStride, wide);
  keySums = take(paddedSize * scoreStride, wide);
  valueSums = take(paddedValues * scoreStride, wide);
  chunkBytes = bytes;
}

Extent BackwardMemory::countUnits(OpBuilder &builder, Location loc, const AttentionShape &shape) {
  return kernels::multiply(builder, loc, shape.batches, shape.keyHeads);
}

Extent BackwardMemory::countBytes(OpBuilder &builder, Location loc, const AttentionShape &shape) const {
  auto number = [&](int64_t known) { return kernels::makeExtent(builder, loc, known); };
  if (shape.keys.isKnown())
    return number(blockBytes + llvm::divideCeil(shape.keys.known, kChunkKeys) * chunkBytes);
  Value more = builder.createOrFold<arith::AddIOp>(loc, shape.keys.value, number(kChunkKeys - 1).value);
  Value chunks = builder.createOrFold<arith::DivUIOp>(loc, more, number(kChunkKeys).value);
  Value bytes = builder.createOrFold<arith::MulIOp>(loc, chunks, number(chunkBytes).value);
  return {builder.createOrFold<arith::AddIOp>(loc, bytes, number(blockBytes).value)};
}
