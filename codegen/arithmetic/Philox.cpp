// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox4x32-10 as arithmetic that vectorises: 64-bit multiplications of 32-bit words.

#include "codegen/arithmetic/Philox.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

constexpr int64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr int64_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

/// Words are kept in i64 values: one multiplication then gives both halves of a product. Upper halves are garbage
/// unless said otherwise; what reads a word's bits beyond the lower half takes `low` first.
struct WordArithmetic {
  OpBuilder &builder;
  Location loc;
  /// i64, or a vector of i64 for several counters at a time.
  Type type;

  Value constant(int64_t value) {
    TypedAttr attribute = builder.getI64IntegerAttr(value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attribute = DenseElementsAttr::get(shaped, ArrayRef<Attribute>(attribute));
    return arith::ConstantOp::create(builder, loc, attribute);
  }
  Value low(Value wide) { return arith::AndIOp::create(builder, loc, wide, constant(0xFFFFFFFF)); }
  Value high(Value wide) { return arith::ShRUIOp::create(builder, loc, wide, constant(32)); }
  /// Of the lower half: a pattern that the back end knows as the multiplication of 32-bit words.
  Value multiply(Value word, int64_t factor) {
    return arith::MulIOp::create(builder, loc, low(word), constant(factor));
  }
  Value xorThree(Value a, Value b, Value c) {
    return arith::XOrIOp::create(builder, loc, arith::XOrIOp::create(builder, loc, a, b), c);
  }
  Value splat(Value scalar) {
    return isa<VectorType>(type) ? Value(vector::BroadcastOp::create(builder, loc, type, scalar)) : scalar;
  }

  /// The generator on a state of four words, with the key's halves in `seed` (i64).
  void run(SmallVector<Value, 4> &state, Value seed);
};

void WordArithmetic::run(SmallVector<Value, 4> &state, Value seed) {
  WordArithmetic scalar{builder, loc, builder.getI64Type()};
  Value key0 = scalar.low(seed), key1 = scalar.high(seed);
  auto bump = [&](Value key, int64_t weyl) {
    return scalar.low(arith::AddIOp::create(builder, loc, key, scalar.constant(weyl)));
  };
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) {
      key0 = bump(key0, kWeyl0);
      key1 = bump(key1, kWeyl1);
    }
    Value product0 = multiply(state[0], kMultiplier0), product1 = multiply(state[2], kMultiplier1);
    state = {xorThree(high(product1), state[1], splat(key0)), product1, xorThree(high(product0), state[3], splat(key1)),
             product0};
  }
}

} // namespace

Value arithmetic::emitCounterOf(OpBuilder &builder, Location loc, Value column) {
  static_assert(llvm::isPowerOf2_64(kColumnsPerCounter), "columns are divided by a shift");
  Value bits = arith::ConstantIntOp::create(builder, loc, llvm::Log2_64(kColumnsPerCounter), 64);
  return arith::ShRUIOp::create(builder, loc, column, bits);
}

SmallVector<Value, 4> arithmetic::emitPhilox(OpBuilder &builder, Location loc, ArrayRef<Value> counter, Value seed) {
  WordArithmetic words{builder, loc, builder.getI64Type()};
  SmallVector<Value, 4> state;
  for (Value word : counter)
    state.push_back(arith::ExtUIOp::create(builder, loc, builder.getI64Type(), word));
  words.run(state, seed);
  for (Value &word : state)
    word = arith::TruncIOp::create(builder, loc, builder.getI32Type(), word);
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
  auto type = VectorType::get(count, builder.getI64Type());
  WordArithmetic words{builder, loc, type};
  SmallVector<Value, 4> state;
  for (Value word : counter)
    state.push_back(words.splat(word));
  auto lanes = DenseElementsAttr::get(type, ArrayRef<int64_t>(getLaneCounters(count)));
  state[0] = arith::AddIOp::create(builder, loc, state[0], arith::ConstantOp::create(builder, loc, lanes));
  words.run(state, seed);
  // Not by shifts: LLVM would move those into the last multiplications, which then are of 64 bits and slow.
  auto pack = [&](Value low, Value high) -> Value {
    auto halves = VectorType::get(2 * count, builder.getI32Type());
    SmallVector<int32_t> mask;
    for (int32_t lane = 0; lane < 2 * count; lane += 2)
      mask.append({lane, static_cast<int32_t>(2 * count) + lane});
    Value lows = LLVM::BitcastOp::create(builder, loc, halves, low),
          highs = LLVM::BitcastOp::create(builder, loc, halves, high);
    return LLVM::BitcastOp::create(builder, loc, type, LLVM::ShuffleVectorOp::create(builder, loc, lows, highs, mask));
  };
  Value first = pack(state[0], state[1]), second = pack(state[2], state[3]);
  auto halves = VectorType::get(4 * count, builder.getI16Type());
  auto interleave = [&](int64_t offset) -> Value {
    SmallVector<int32_t> mask;
    for (int64_t lane = offset; lane < count; lane += 2)
      mask.append({static_cast<int32_t>(lane), static_cast<int32_t>(count + lane)});
    Value mixed = LLVM::ShuffleVectorOp::create(builder, loc, first, second, mask);
    return LLVM::BitcastOp::create(builder, loc, halves, mixed);
  };
  return {interleave(0), interleave(1)};
}

Value arithmetic::emitPhiloxHalf(OpBuilder &builder, Location loc, ArrayRef<Value> counter, Value seed, Value column) {
  SmallVector<Value, 4> output = emitPhilox(builder, loc, counter, seed);
  Type i32 = builder.getI32Type();
  auto constant = [&](int64_t value) { return arith::ConstantIntOp::create(builder, loc, i32, value); };
  static_assert(kColumnsPerCounter == 8, "a column's word is picked by two bits, its half by the lowest one");
  Value index = arith::TruncIOp::create(builder, loc, i32, column);
  Value pair =
      arith::AndIOp::create(builder, loc, arith::ShRUIOp::create(builder, loc, index, constant(1)), constant(3));
  Value word = output[0];
  for (int i = 1; i < 4; ++i) {
    Value isWord = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, pair, constant(i));
    word = arith::SelectOp::create(builder, loc, isWord, output[i], word);
  }
  Value odd = arith::AndIOp::create(builder, loc, index, constant(1));
  Value shift = arith::ShLIOp::create(builder, loc, odd, constant(4));
  return arith::AndIOp::create(builder, loc, arith::ShRUIOp::create(builder, loc, word, shift), constant(0xFFFF));
}
