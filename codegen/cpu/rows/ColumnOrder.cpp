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

std::pair<Value, Value> cpu::separateEvenOdd(OpBuilder &builder, Location loc, Value first, Value second) {
  auto count = static_cast<int32_t>(cast<VectorType>(first.getType()).getNumElements());
  return {LLVM::ShuffleVectorOp::create(builder, loc, first, second, takeEvery(0, 2, count)),
          LLVM::ShuffleVectorOp::create(builder, loc, first, second, takeEvery(1, 2, count))};
}

std::pair<Value, Value> cpu::mergeEvenOdd(OpBuilder &builder, Location loc, Value even, Value odd) {
  auto count = static_cast<int32_t>(cast<VectorType>(even.getType()).getNumElements());
  SmallVector<int32_t> turns = takeTurns(count);
  ArrayRef<int32_t> all = turns;
  return {LLVM::ShuffleVectorOp::create(builder, loc, even, odd, all.take_front(count)),
          LLVM::ShuffleVectorOp::create(builder, loc, even, odd, all.drop_front(count))};
}

//===------------------------------------------- halves of words --------------------------------------------------===//

Value cpu::splatWord(OpBuilder &builder, Location loc, Type type, uint32_t word) {
  auto attribute = DenseElementsAttr::get(cast<ShapedType>(type), builder.getI32IntegerAttr(word).getValue());
  return arith::ConstantOp::create(builder, loc, attribute);
}

Value cpu::joinHalves(OpBuilder &builder, Location loc, Value even, Value odd) {
  int64_t count = cast<VectorType>(even.getType()).getNumElements();
  auto halves = VectorType::get(count, builder.getI16Type()), words = VectorType::get(count, builder.getI32Type());
  auto extend = [&](Value half) -> Value {
    Value bits = LLVM::BitcastOp::create(builder, loc, halves, half);
    return arith::ExtUIOp::create(builder, loc, words, bits);
  };
  Value high = arith::ShLIOp::create(builder, loc, extend(odd), splatWord(builder, loc, words, 16));
  Value joined = arith::OrIOp::create(builder, loc, extend(even), high);
  return LLVM::BitcastOp::create(builder, loc, VectorType::get(2 * count, builder.getI16Type()), joined);
}

Value cpu::blendHalves(OpBuilder &builder, Location loc, Value evenWords, Value oddWords) {
  auto count = static_cast<int32_t>(2 * cast<VectorType>(evenWords.getType()).getNumElements());
  auto type = VectorType::get(count, builder.getI16Type());
  SmallVector<int32_t> picks;
  for (int32_t place = 0; place < count; place += 2)
    picks.append({place, count + place + 1});
  Value even = LLVM::BitcastOp::create(builder, loc, type, evenWords);
  Value odd = LLVM::BitcastOp::create(builder, loc, type, oddWords);
  return LLVM::ShuffleVectorOp::create(builder, loc, even, odd, picks);
}

Value cpu::interleaveHalves(OpBuilder &builder, Location loc, Value halves) {
  auto count = static_cast<int32_t>(cast<VectorType>(halves.getType()).getNumElements());
  return LLVM::ShuffleVectorOp::create(builder, loc, halves, halves, takeTurns(count / 2));
}

static Value toWords(OpBuilder &builder, Location loc, Value joined) {
  int64_t count = cast<VectorType>(joined.getType()).getNumElements() / 2;
  return LLVM::BitcastOp::create(builder, loc, VectorType::get(count, builder.getI32Type()), joined);
}

std::pair<Value, Value> cpu::splitToLowerHalves(OpBuilder &builder, Location loc, Value joined) {
  Value words = toWords(builder, loc, joined);
  return {arith::AndIOp::create(builder, loc, words, splatWord(builder, loc, words.getType(), 0xFFFF)),
          arith::ShRUIOp::create(builder, loc, words, splatWord(builder, loc, words.getType(), 16))};
}

std::pair<Value, Value> cpu::splitToUpperHalves(OpBuilder &builder, Location loc, Value joined) {
  Value words = toWords(builder, loc, joined);
  return {arith::ShLIOp::create(builder, loc, words, splatWord(builder, loc, words.getType(), 16)),
          arith::AndIOp::create(builder, loc, words, splatWord(builder, loc, words.getType(), 0xFFFF0000))};
}
