// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/rows/Shuffles.h"

#include "codegen/rows/Reductions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

Value cuda::makeVector(Code &builder, ArrayRef<Value> elements) {
  auto type = VectorType::get(int64_t(elements.size()), elements.front().getType());
  Value vector = builder.create<LLVM::PoisonOp>(type);
  for (auto [i, element] : llvm::enumerate(elements))
    vector = builder.create<LLVM::InsertElementOp>(vector, element, builder.constant(int64_t(i)));
  return vector;
}

/// `number`: a distance, or a thread.
static Value shuffleWords(Code &builder, NVVM::ShflKind kind, Value value, int64_t number, Value mask) {
  Type type = value.getType(), i32 = builder.getI32Type(), i64 = builder.getI64Type();
  if (!mask)
    mask = builder.constant(i32, -1);
  auto shuffle = [&](Value word) -> Value {
    return builder.create<NVVM::ShflOp>(i32, mask, word, builder.constant(i32, number),
                                        builder.constant(i32, kWarpThreads - 1), kind, UnitAttr());
  };
  if (type.isInteger(32))
    return shuffle(value);
  Value bits = builder.bits(value);
  if (type.isF32())
    return builder.fromBits(shuffle(bits));
  Value low = shuffle(builder.castInteger(bits, i32));
  Value high = shuffle(builder.castInteger(builder.shiftRight(bits, 32), i32));
  Value wide = builder.shiftLeft(builder.castInteger(high, i64), 32);
  return builder.fromBits(builder.either(wide, builder.castInteger(low, i64)));
}

Value cuda::exchange(Code &builder, Value value, int64_t distance, Value mask) {
  return shuffleWords(builder, NVVM::ShflKind::bfly, value, distance, mask);
}

Value cuda::takeFrom(Code &builder, Value value, int64_t number) {
  return shuffleWords(builder, NVVM::ShflKind::idx, value, number, /*mask=*/{});
}

/// Each thread of a pair does what the other one does: a + b and b + a have the same bits.
Value cuda::reduceLanes(Code &builder, rows::ReductionKind kind, Value low, Value high) {
  kind = getCombiningKind(kind);
  Value all = combine(builder, kind, low, high);
  for (int64_t distance = kWarpThreads / 2; distance > 0; distance /= 2)
    all = combine(builder, kind, all, exchange(builder, all, distance));
  return all;
}
