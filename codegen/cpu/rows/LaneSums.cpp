// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/rows/LaneSums.h"

#include "codegen/rows/RowAddressing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <numeric>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

static constexpr int32_t kSmallestRegisterBits = 128;

Value cpu::computeFullEnd(OpBuilder &builder, Location loc, Value first, Value end) {
  Value count = arith::SubIOp::create(builder, loc, end, first);
  Value full = arith::AndIOp::create(builder, loc, count, constantI64(builder, loc, -kLanes));
  return arith::AddIOp::create(builder, loc, first, full);
}

Value cpu::extractLanes(OpBuilder &builder, Location loc, Value vector, int32_t first, int32_t count) {
  auto mask = llvm::to_vector(llvm::seq<int32_t>(first, first + count));
  return LLVM::ShuffleVectorOp::create(builder, loc, vector, vector, mask);
}

Value cpu::concatenate(OpBuilder &builder, Location loc, Value low, Value high) {
  int64_t count = 2 * cast<VectorType>(low.getType()).getNumElements();
  auto mask = llvm::to_vector(llvm::seq<int32_t>(0, count));
  return LLVM::ShuffleVectorOp::create(builder, loc, low, high, mask);
}

/// Lane i meets lane i + half the lanes, until one is left. Below 128 bits there are no registers: the upper lanes
/// stay, and hold nothing.
static Value reduceVector(OpBuilder &builder, Location loc, rows::ReductionKind kind, Value vector) {
  Type element = cast<VectorType>(vector.getType()).getElementType();
  int32_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  bool isMax = kind == rows::ReductionKind::Max;
  if (isMax)
    vector = toBits(builder, loc, vector);
  for (int32_t half = lanes / 2; half > 0; half /= 2) {
    Value low = vector, high;
    if (2 * half * element.getIntOrFloatBitWidth() > kSmallestRegisterBits) {
      low = extractLanes(builder, loc, vector, 0, half);
      high = extractLanes(builder, loc, vector, half, half);
    } else {
      SmallVector<int32_t> mask(cast<VectorType>(vector.getType()).getNumElements(), /*nothing*/ -1);
      std::iota(mask.begin(), mask.begin() + half, half);
      high = LLVM::ShuffleVectorOp::create(builder, loc, vector, vector, mask);
    }
    vector = isMax ? arith::MaxSIOp::create(builder, loc, low, high).getResult() : combine(builder, kind, low, high);
  }
  Value first = LLVM::ExtractElementOp::create(builder, loc, vector, constantI64(builder, loc, 0));
  return isMax ? fromMemory(builder, loc, first, element) : first;
}

Value cpu::reduceLanes(OpBuilder &builder, Location loc, rows::ReductionKind kind, SmallVector<Value> parts,
                       ColumnOrder order) {
  kind = getCombiningKind(kind);
  auto addHalf = [&] {
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = combine(builder, kind, parts[i], parts[i + parts.size() / 2]);
    parts.truncate(parts.size() / 2);
  };
  // Until two are left, lanes meet that are of one parity.
  while (parts.size() > 2)
    addHalf();
  if (order == ColumnOrder::EvenOdd)
    std::tie(parts[0], parts[1]) = mergeEvenOdd(builder, loc, parts[0], parts[1]);
  while (parts.size() > 1)
    addHalf();
  return reduceVector(builder, loc, kind, parts.front());
}

Value cpu::loadVector(Code &code, VectorType type, Value pointer, int64_t first) {
  return code.load(type, getElementAddress(code, code.getLoc(), type.getElementType(), pointer, code.constant(first)));
}
