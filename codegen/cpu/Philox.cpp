// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox4x32-10 as arithmetic that vectorises: 64-bit multiplications of 32-bit words.

#include "codegen/cpu/Philox.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

constexpr int64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr int64_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

/// Words are kept in i64 values whose upper halves are zero: one multiplication then gives both halves of a product.
struct WordArithmetic {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value) { return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), value); }
  Value low(Value wide) { return arith::AndIOp::create(builder, loc, wide, constant(0xFFFFFFFF)); }
  Value high(Value wide) { return arith::ShRUIOp::create(builder, loc, wide, constant(32)); }
  Value multiply(Value word, int64_t factor) { return arith::MulIOp::create(builder, loc, word, constant(factor)); }
  Value xorThree(Value a, Value b, Value c) {
    return arith::XOrIOp::create(builder, loc, arith::XOrIOp::create(builder, loc, a, b), c);
  }
  Value bump(Value key, int64_t weyl) { return low(arith::AddIOp::create(builder, loc, key, constant(weyl))); }
};

} // namespace

SmallVector<Value, 4> cpu::emitPhilox(OpBuilder &builder, Location loc, ArrayRef<Value> counter, Value seed) {
  WordArithmetic words{builder, loc};
  SmallVector<Value, 4> state;
  for (Value word : counter)
    state.push_back(arith::ExtUIOp::create(builder, loc, builder.getI64Type(), word));
  Value key0 = words.low(seed), key1 = words.high(seed);
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) {
      key0 = words.bump(key0, kWeyl0);
      key1 = words.bump(key1, kWeyl1);
    }
    Value product0 = words.multiply(state[0], kMultiplier0), product1 = words.multiply(state[2], kMultiplier1);
    state = {words.xorThree(words.high(product1), state[1], key0), words.low(product1),
             words.xorThree(words.high(product0), state[3], key1), words.low(product0)};
  }
  for (Value &word : state)
    word = arith::TruncIOp::create(builder, loc, builder.getI32Type(), word);
  return state;
}

Value cpu::emitPhiloxHalf(OpBuilder &builder, Location loc, ArrayRef<Value> counter, Value seed, Value column) {
  SmallVector<Value, 4> output = emitPhilox(builder, loc, counter, seed);
  Type i32 = builder.getI32Type();
  auto constant = [&](int64_t value) { return arith::ConstantIntOp::create(builder, loc, i32, value); };
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
