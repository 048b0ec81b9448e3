// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts shuffles, and makes them.

#include "codegen/cpu/rows/ColumnOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

/// Per two parts, widening bf16 is two shuffles less in the even-odd order, of which none is left; narrowing is one
/// more with the instruction that narrows pairs of vectors in their consecutive order, and two less by integers.
/// Everything else has to be brought into the order, and back, by two shuffles.
ColumnOrder cpu::chooseColumnOrder(rows::PhaseOp phase, int64_t lanes, const CPUTarget &target) {
  // Other processors widen half a register in one operation, without a shuffle before it.
  if (!target.isX86 || 32 * lanes != target.vectorBits)
    return ColumnOrder::Consecutive;
  int64_t saved = 0;
  phase.walk([&](Operation *op) {
    if (auto load = dyn_cast<rows::LoadOp>(op))
      saved += load.getType().isBF16() ? 2 : -2;
    else if (auto store = dyn_cast<rows::StoreOp>(op))
      saved -= store.getValue().getType().isBF16() ? 0 : 2;
    else if (isa<arith::TruncFOp>(op) && op->getResult(0).getType().isBF16())
      saved += target.hasPackedBF16 ? -1 : 2;
    else if (isa<arith::ExtFOp>(op) && op->getOperand(0).getDefiningOp<arith::TruncFOp>())
      saved += op->getOperand(0).getType().isBF16() ? 2 : 0;
  });
  return saved > 0 ? ColumnOrder::EvenOdd : ColumnOrder::Consecutive;
}

/// `count` numbers from `first` on, every `step`-th.
static SmallVector<int32_t> takeEvery(int32_t first, int32_t step, int32_t count) {
  SmallVector<int32_t> numbers;
  for (int32_t i = 0; i < count; ++i)
    numbers.push_back(first + i * step);
  return numbers;
}

/// 0, count, 1, count + 1, …
static SmallVector<int32_t> takeTurns(int32_t count) {
  SmallVector<int32_t> numbers;
  for (int32_t i = 0; i < count; ++i)
    numbers.append({i, count + i});
  return numbers;
}

static int32_t countLanes(Value vector) { return int32_t(cast<VectorType>(vector.getType()).getNumElements()); }

static Value shuffle(Code &builder, Value first, Value second, ArrayRef<int32_t> mask) {
  return builder.create<LLVM::ShuffleVectorOp>(first, second, mask);
}

std::pair<Value, Value> cpu::separateEvenOdd(Code &builder, Value first, Value second) {
  int32_t count = countLanes(first);
  return {shuffle(builder, first, second, takeEvery(0, 2, count)),
          shuffle(builder, first, second, takeEvery(1, 2, count))};
}

std::pair<Value, Value> cpu::mergeEvenOdd(Code &builder, Value even, Value odd) {
  SmallVector<int32_t> turns = takeTurns(countLanes(even));
  ArrayRef<int32_t> all = turns;
  return {shuffle(builder, even, odd, all.take_front(turns.size() / 2)),
          shuffle(builder, even, odd, all.drop_front(turns.size() / 2))};
}

//===------------------------------------------- halves of words --------------------------------------------------===//

static Value toHalves(Code &builder, Value words) {
  auto type = VectorType::get(2 * countLanes(words), builder.getI16Type());
  return builder.create<LLVM::BitcastOp>(type, words);
}

static Value toWords(Code &builder, Value joined) {
  auto type = VectorType::get(countLanes(joined) / 2, builder.getI32Type());
  return builder.create<LLVM::BitcastOp>(type, joined);
}

Value cpu::joinHalves(Code &builder, Value even, Value odd) {
  auto halves = VectorType::get(countLanes(even), builder.getI16Type());
  auto extend = [&](Value half) {
    return builder.castInteger(builder.create<LLVM::BitcastOp>(halves, half), builder.getI32Type());
  };
  Value high = builder.shiftLeft(extend(odd), 16);
  return toHalves(builder, builder.either(extend(even), high));
}

Value cpu::blendHalves(Code &builder, Value evenWords, Value oddWords) {
  int32_t count = 2 * countLanes(evenWords);
  SmallVector<int32_t> picks;
  for (int32_t place = 0; place < count; place += 2)
    picks.append({place, count + place + 1});
  Value even = toHalves(builder, evenWords), odd = toHalves(builder, oddWords);
  return shuffle(builder, even, odd, picks);
}

Value cpu::interleaveHalves(Code &builder, Value halves) {
  return shuffle(builder, halves, halves, takeTurns(countLanes(halves) / 2));
}

std::pair<Value, Value> cpu::splitToLowerHalves(Code &builder, Value joined) {
  Value words = toWords(builder, joined);
  return {builder.both(words, 0xFFFF), builder.shiftRight(words, 16)};
}

std::pair<Value, Value> cpu::splitToUpperHalves(Code &builder, Value joined) {
  Value words = toWords(builder, joined);
  return {builder.shiftLeft(words, 16), builder.both(words, kUpperHalf)};
}
