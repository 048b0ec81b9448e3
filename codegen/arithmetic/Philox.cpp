// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox4x32-10 as arithmetic that vectorises: 64-bit multiplications of 32-bit words.

#include "codegen/arithmetic/Philox.h"

#include "codegen/builder/Code.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

constexpr int64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr int64_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

// Words are kept in i64 values: one multiplication then gives both halves of a product. Upper halves are garbage unless
// said otherwise; what reads a word's bits beyond the lower half takes `getLow` first.

Value getLow(Code &code, Value wide) { return code.both(wide, 0xFFFFFFFF); }
Value getHigh(Code &code, Value wide) { return code.shiftRight(wide, 32); }

/// The generator on a state of four words (i64, or vectors for several counters at a time), with the key's halves in
/// `seed` (i64).
void run(Code &code, SmallVector<Value, 4> &state, Value seed) {
  Value keys[] = {getLow(code, seed), getHigh(code, seed)};
  // Of the lower half: a pattern that the back end knows as the multiplication of 32-bit words.
  auto multiply = [&](Value word, int64_t factor) { return code.multiply(getLow(code, word), factor); };
  auto mix = [&](Value product, Value word, Value key) {
    Value mixed = code.exclusiveOr(getHigh(code, product), word);
    return code.exclusiveOr(mixed, code.spread(key, word.getType()));
  };
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) {
      keys[0] = getLow(code, code.add(keys[0], kWeyl0));
      keys[1] = getLow(code, code.add(keys[1], kWeyl1));
    }
    Value product0 = multiply(state[0], kMultiplier0), product1 = multiply(state[2], kMultiplier1);
    state = {mix(product1, state[1], keys[0]), product1, mix(product0, state[3], keys[1]), product0};
  }
}

} // namespace

Value arithmetic::emitCounterOf(OpBuilder &builder, Location loc, Value column) {
  static_assert(llvm::isPowerOf2_64(kColumnsPerCounter), "columns are divided by a shift");
  return Code(builder, loc).shiftRight(column, llvm::Log2_64(kColumnsPerCounter));
}

SmallVector<Value, 4> arithmetic::emitPhilox(OpBuilder &builder, Location loc, ArrayRef<Value> counter, Value seed) {
  Code code(builder, loc);
  SmallVector<Value, 4> state;
  for (Value word : counter)
    state.push_back(code.castInteger(word, code.getI64Type()));
  run(code, state, seed);
  for (Value &word : state)
    word = code.castInteger(word, code.getI32Type());
  return state;
}

/// The order of counters in the lanes: lane 2i has counter i, lane 2i+1 has counter count/2 + i. Then pairs of words
/// need no shuffle beyond one interleaving of neighbours to come out in order.
static SmallVector<int64_t> getLaneCounters(int64_t count) {
  SmallVector<int64_t> counters;
  for (int64_t lane = 0; lane < count; ++lane)
    counters.push_back(lane / 2 + (lane % 2) * (count / 2));
  return counters;
}

std::pair<Value, Value> arithmetic::emitPhiloxColumns(OpBuilder &builder, Location loc, ArrayRef<Value> counter,
                                                      Value seed, int64_t columns) {
  int64_t count = columns / kColumnsPerCounter;
  Code code(builder, loc);
  auto type = VectorType::get(count, code.getI64Type());
  SmallVector<Value, 4> state;
  for (Value word : counter)
    state.push_back(code.spread(word, type));
  auto lanes = DenseElementsAttr::get(type, ArrayRef<int64_t>(getLaneCounters(count)));
  state[0] = code.add(state[0], Value(code.create<arith::ConstantOp>(lanes)));
  run(code, state, seed);
  // Not by shifts: LLVM would move those into the last multiplications, which then are of 64 bits and slow.
  auto pack = [&](Value low, Value high) -> Value {
    auto halves = VectorType::get(2 * count, code.getI32Type());
    SmallVector<int32_t> mask;
    for (int32_t lane = 0; lane < 2 * count; lane += 2)
      mask.append({lane, static_cast<int32_t>(2 * count) + lane});
    Value lows = code.create<LLVM::BitcastOp>(halves, low), highs = code.create<LLVM::BitcastOp>(halves, high);
    return code.create<LLVM::BitcastOp>(type, code.create<LLVM::ShuffleVectorOp>(lows, highs, mask));
  };
  Value first = pack(state[0], state[1]), second = pack(state[2], state[3]);
  auto halves = VectorType::get(4 * count, code.getI16Type());
  auto interleave = [&](int64_t offset) -> Value {
    SmallVector<int32_t> mask;
    for (int64_t lane = offset; lane < count; lane += 2)
      mask.append({static_cast<int32_t>(lane), static_cast<int32_t>(count + lane)});
    return code.create<LLVM::BitcastOp>(halves, code.create<LLVM::ShuffleVectorOp>(first, second, mask));
  };
  return {interleave(0), interleave(1)};
}

Value arithmetic::emitPhiloxHalf(OpBuilder &builder, Location loc, ArrayRef<Value> counter, Value seed, Value column) {
  SmallVector<Value, 4> output = emitPhilox(builder, loc, counter, seed);
  Code code(builder, loc);
  static_assert(kColumnsPerCounter == 8, "a column's word is picked by two bits, its half by the lowest one");
  Value index = code.castInteger(column, code.getI32Type());
  Value pair = code.both(code.shiftRight(index, 1), 3), word = output[0];
  for (int i = 1; i < 4; ++i)
    word = code.select(code.isEqual(pair, i), output[i], word);
  Value shift = code.shiftLeft(code.both(index, 1), 4);
  return code.both(code.shiftRight(word, shift), 0xFFFF);
}
