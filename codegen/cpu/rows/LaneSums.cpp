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

Value cpu::computeFullEnd(Code &builder, Value first, Value end) {
  return builder.add(first, builder.both(builder.subtract(end, first), -kLanes));
}

Value cpu::extractLanes(Code &builder, Value vector, int32_t first, int32_t count) {
  auto mask = llvm::to_vector(llvm::seq<int32_t>(first, first + count));
  return builder.create<LLVM::ShuffleVectorOp>(vector, vector, mask);
}

Value cpu::concatenate(Code &builder, Value low, Value high) {
  int64_t count = 2 * cast<VectorType>(low.getType()).getNumElements();
  return builder.create<LLVM::ShuffleVectorOp>(low, high, llvm::to_vector(llvm::seq<int32_t>(0, count)));
}

/// Lane i meets lane i + half the lanes, until one is left. Below 128 bits there are no registers: the upper lanes
/// stay, and hold nothing.
static Value reduceVector(Code &builder, rows::ReductionKind kind, Value vector) {
  Type element = cast<VectorType>(vector.getType()).getElementType();
  int32_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  bool isMax = kind == rows::ReductionKind::Max;
  if (isMax)
    vector = builder.bits(vector);
  for (int32_t half = lanes / 2; half > 0; half /= 2) {
    Value low = vector, high;
    if (2 * half * element.getIntOrFloatBitWidth() > kSmallestRegisterBits) {
      low = extractLanes(builder, vector, 0, half);
      high = extractLanes(builder, vector, half, half);
    } else {
      SmallVector<int32_t> mask(cast<VectorType>(vector.getType()).getNumElements(), /*nothing*/ -1);
      std::iota(mask.begin(), mask.begin() + half, half);
      high = builder.create<LLVM::ShuffleVectorOp>(vector, vector, mask);
    }
    vector = isMax ? builder.max(low, high) : combine(builder, kind, low, high);
  }
  Value first = builder.create<LLVM::ExtractElementOp>(vector, builder.constant(0));
  return isMax ? builder.castBits(first, element) : first;
}

Value cpu::reduceLanes(Code &builder, rows::ReductionKind kind, SmallVector<Value> parts, ColumnOrder order) {
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
    std::tie(parts[0], parts[1]) = mergeEvenOdd(builder, parts[0], parts[1]);
  while (parts.size() > 1)
    addHalf();
  return reduceVector(builder, kind, parts.front());
}

Value cpu::loadVector(Code &code, VectorType type, Value pointer, int64_t first) {
  return code.load(type, getElementAddress(code, code.getLoc(), type.getElementType(), pointer, code.constant(first)));
}
