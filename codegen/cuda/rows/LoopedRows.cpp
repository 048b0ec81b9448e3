// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits one phase of a row on a warp: spans of 1,024 columns, chunks of 64, sums in the fixed order.

#include "codegen/cuda/rows/LoopedRows.h"

#include "codegen/arithmetic/Philox.h"
#include "codegen/cuda/rows/LaneSums.h"
#include "codegen/cuda/rows/OpaqueValues.h"
#include "codegen/rows/ColumnMoves.h"
#include "codegen/rows/Reductions.h"
#include "codegen/rows/SumOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

static constexpr int64_t kThreadLanes = rows::kLanes / kWarpThreads;
static_assert(kThreadLanes == 2, "expected the lanes t and t + 32");

/// In a loop over rows, LLVM would keep a pointer for each operand, and how far it goes from row to row.
void LoopedRowEmitter::emitRow(rows::KernelOp kernel, Value row) {
  beginRow(kernel, hasManyOperands(kernel) ? makeOpaque(builder, row) : row);
  emitBlock(kernel.getBody().front());
}

//===------------------------------------------- loops ------------------------------------------------------------===//

void LoopedRowEmitter::emitPhase(rows::PhaseOp phase) {
  Value zero = builder.constant(0);
  if (phase.getResults().empty()) {
    emitColumns(phase, zero, addresses.width, {});
    return;
  }
  auto emitBlock = [&](Value first, ValueRange totals) {
    Value next = builder.add(first, rows::kSpanColumns);
    Value end = builder.min(next, addresses.width);
    Lanes lanes = emitColumns(phase, first, end, createNeutral(phase));
    for (auto [i, lane] : llvm::enumerate(lanes))
      lane = combine(builder, getCombiningKind(phase.getKind(i / kThreadLanes)), totals[i], lane);
    return lanes;
  };
  Lanes totals = builder.rolledLoop(zero, addresses.width, rows::kSpanColumns, createNeutral(phase), emitBlock);
  for (auto [i, result] : llvm::enumerate(phase.getResults()))
    state.mapping.map(result,
                      reduceLanes(builder, phase.getKind(i), totals[kThreadLanes * i], totals[kThreadLanes * i + 1]));
}

LoopedRowEmitter::Lanes LoopedRowEmitter::createNeutral(rows::PhaseOp phase) {
  Lanes lanes;
  for (auto [i, result] : llvm::enumerate(phase.getResults()))
    lanes.append(kThreadLanes, rows::createNeutral(builder, phase.getLoc(), phase.getKind(i), result.getType()));
  return lanes;
}

/// Chunks whose loads may wait together. Random numbers, and sums down the rows, take so many registers that there is
/// room for half of them.
static int64_t getChunksPerTurn(rows::PhaseOp phase) {
  constexpr int64_t several = 4;
  Block &body = phase.getBody().front();
  bool takesMore = !body.getOps<rows::RandomHalfOp>().empty() || !body.getOps<rows::AccumulateOp>().empty();
  return takesMore ? several / 2 : several;
}

LoopedRowEmitter::Lanes LoopedRowEmitter::emitColumns(rows::PhaseOp phase, Value first, Value end, Lanes lanes) {
  Value count = builder.subtract(end, first);
  Value full = builder.both(count, -rows::kLanes);
  Value fullEnd = builder.add(first, full);
  lanes = builder.loop(
      first, fullEnd, rows::kLanes, lanes,
      [&](Value chunk, ValueRange carried) { return emitChunk(phase, chunk, /*end=*/nullptr, Lanes(carried)); },
      getChunksPerTurn(phase));
  return emitChunk(phase, fullEnd, end, std::move(lanes));
}

LoopedRowEmitter::Lanes LoopedRowEmitter::emitChunk(rows::PhaseOp phase, Value chunk, Value end, Lanes lanes) {
  Value first = builder.add(chunk, thread);
  for (int64_t place = 0; place < kThreadLanes; ++place) {
    Value at = builder.add(first, place * kWarpThreads);
    SmallVector<Value> old;
    for (size_t i = place; i < lanes.size(); i += kThreadLanes)
      old.push_back(lanes[i]);
    SmallVector<Value> taken;
    if (end) {
      Value isPresent = builder.compare(arith::CmpIPredicate::slt, at, end);
      taken = builder.choose(
          isPresent, TypeRange(ValueRange(old)), [&] { return emitColumn(phase, at, old); }, [&] { return old; });
    } else {
      taken = emitColumn(phase, at, old);
    }
    for (auto [i, value] : llvm::enumerate(taken))
      lanes[kThreadLanes * i + place] = value;
  }
  return lanes;
}

SmallVector<Value> LoopedRowEmitter::emitColumn(rows::PhaseOp phase, Value at, ArrayRef<Value> lanes) {
  Block &body = phase.getBody().front();
  column = at;
  state.mapping.map(body.getArgument(0), builder.create<arith::IndexCastOp>(builder.getIndexType(), at).getResult());
  emitBlock(body);
  SmallVector<Value> taken;
  for (auto [i, lane] : llvm::enumerate(lanes)) {
    Value value = state.mapping.lookup(body.getTerminator()->getOperand(i));
    taken.push_back(combine(builder, phase.getKind(i), lane, value));
  }
  return taken;
}

//===------------------------------------------- memory -----------------------------------------------------------===//

void LoopedRowEmitter::emitColumnOperation(Operation *op) {
  Location loc = op->getLoc();
  if (auto load = dyn_cast<rows::LoadOp>(op)) {
    Value pointer = getRowPointer(load.getRow()), at = column;
    if (AffineExpr move = load.getMove())
      at = moveColumn(builder, move, column);
    state.mapping.map(load.getResult(), loadElement(builder, loc, load.getType(), pointer, at, alignment));
  } else if (auto store = dyn_cast<rows::StoreOp>(op)) {
    Value value = state.mapping.lookup(store.getValue()), pointer = getRowPointer(store.getRow());
    storeElement(builder, loc, value, pointer, column, alignment);
  } else if (auto term = dyn_cast<rows::AccumulateOp>(op)) {
    Value chain = getRowPointer(term.getRow()), value = state.mapping.lookup(term.getValue());
    Value sum = loadElement(builder, loc, value.getType(), chain, column, alignment);
    storeElement(builder, loc, builder.add(sum, value), chain, column, alignment);
  } else {
    auto half = cast<rows::RandomHalfOp>(op);
    SmallVector<Value, 4> counter = counterOf(half, arithmetic::emitCounterOf(builder, loc, column));
    Value seed = state.mapping.lookup(half.getSeed());
    state.mapping.map(half.getResult(), arithmetic::emitPhiloxHalf(builder, loc, counter, seed, column));
  }
}

/// What is one element of a row is stored by its first thread.
void LoopedRowEmitter::emitRowStore(rows::StoreOp store) {
  builder.choose(builder.isEqual(thread, 0), [&] { RowEmitter::emitRowStore(store); });
}
