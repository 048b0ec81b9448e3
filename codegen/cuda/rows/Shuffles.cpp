// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/rows/Shuffles.h"

#include "codegen/rows/Reductions.h"
#include "codegen/rows/RowAddressing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

Value cuda::exchange(OpBuilder &builder, Value value, int64_t distance, Value mask) {
  Location loc = value.getLoc();
  Type type = value.getType(), i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto constant = [&](int64_t number) -> Value { return arith::ConstantIntOp::create(builder, loc, i32, number); };
  if (!mask)
    mask = constant(-1);
  auto shuffle = [&](Value word) -> Value {
    return NVVM::ShflOp::create(builder, loc, i32, mask, word, constant(distance), constant(kWarpThreads - 1),
                                NVVM::ShflKind::bfly, UnitAttr());
  };
  if (type.isInteger(32))
    return shuffle(value);
  Value bits = toBits(builder, loc, value);
  if (type.isF32())
    return arith::BitcastOp::create(builder, loc, type, shuffle(bits));
  Value half = constantI64(builder, loc, 32);
  Value low = shuffle(arith::TruncIOp::create(builder, loc, i32, bits));
  Value high = shuffle(arith::TruncIOp::create(builder, loc, i32, arith::ShRUIOp::create(builder, loc, bits, half)));
  Value wide = arith::ExtUIOp::create(builder, loc, i64, high);
  wide = arith::OrIOp::create(builder, loc, arith::ShLIOp::create(builder, loc, wide, half),
                              arith::ExtUIOp::create(builder, loc, i64, low));
  return arith::BitcastOp::create(builder, loc, type, wide);
}

/// Each thread of a pair does what the other one does: a + b and b + a have the same bits.
Value cuda::reduceLanes(OpBuilder &builder, rows::ReductionKind kind, Value low, Value high) {
  kind = getCombiningKind(kind);
  Value all = combine(builder, kind, low, high);
  for (int64_t distance = kWarpThreads / 2; distance > 0; distance /= 2)
    all = combine(builder, kind, all, exchange(builder, all, distance));
  return all;
}
