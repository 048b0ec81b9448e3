// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers of rows that stay in registers: neighbouring threads share the calls of the generator.

#include "codegen/cuda/rows/RegisterRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

/// What `choose` gives for the thread's number among those that share a call of the generator.
Value RegisterRowEmitter::chooseByNeighbour(function_ref<Value(int64_t)> choose) {
  Value number = builder.castInteger(thread.thread, builder.getI32Type());
  number = builder.both(number, getNeighbours() - 1);
  Value chosen = choose(0);
  for (int64_t i = 1; i < getNeighbours(); ++i) {
    Value isNumber = builder.isEqual(number, i);
    chosen = builder.select(isNumber, choose(i), chosen);
  }
  return chosen;
}

/// The columns of a thread in a chunk belong to one call of the generator, which its neighbours need too. So each of
/// them makes the call for another chunk, and they hand the words to each other: neighbour i has those of chunk
/// `chunk` + i, and gives neighbour j the words of its columns.
void RegisterRowEmitter::shareRandomWords(rows::RandomHalfOp half) {
  int64_t neighbours = getNeighbours(), words = plan.lanes / 2;
  Value number = builder.both(thread.thread, neighbours - 1);
  Value own = builder.add(thread.column, builder.multiply(number, rows::kLanes));
  own = builder.add(own, chunk * rows::kLanes);
  SmallVector<Value, 4> all = emitCall(half, own);
  // What came over each distance: the words for chunk `chunk` + (the thread's number ^ distance).
  SmallVector<SmallVector<Value, 4>> came(neighbours);
  for (int64_t distance = 0; distance < neighbours; ++distance)
    for (int64_t word = 0; word < words; ++word) {
      Value given = chooseByNeighbour([&](int64_t i) { return all[(i ^ distance) * words + word]; });
      came[distance].push_back(distance == 0 ? given : exchange(builder, given, distance, getMask()));
    }
  for (int64_t i = 0; i < neighbours; ++i)
    for (int64_t word = 0; word < words; ++word)
      random[{half, chunk + i}].push_back(
          chooseByNeighbour([&](int64_t neighbour) { return came[neighbour ^ i][word]; }));
}

SmallVector<Value, 4> RegisterRowEmitter::emitCall(rows::RandomHalfOp half, Value ofColumn) {
  Location loc = half.getLoc();
  SmallVector<Value, 4> counter = counterOf(half, arithmetic::emitCounterOf(builder, loc, ofColumn));
  return arithmetic::emitPhilox(builder, loc, counter, state.mapping.lookup(half.getSeed()));
}

Value RegisterRowEmitter::getRandomHalf(rows::RandomHalfOp half) {
  int64_t words = plan.lanes / 2;
  if (!random.contains({half, chunk})) {
    // The last chunks may be too few for all neighbours.
    if (chunk + getNeighbours() <= plan.getChunks()) {
      shareRandomWords(half);
    } else {
      SmallVector<Value, 4> all = emitCall(half, column);
      for (int64_t word = 0; word < words; ++word)
        random[{half, chunk}].push_back(
            chooseByNeighbour([&](int64_t neighbour) { return all[neighbour * words + word]; }));
    }
  }
  static_assert(arithmetic::kColumnsPerCounter == 8, "a word has the halves of two columns, the first one's below");
  Value word = random[{half, chunk}][lane / 2];
  return lane % 2 == 1 ? builder.shiftRight(word, 16) : builder.both(word, 0xFFFF);
}

//===------------------------------------------- decisions --------------------------------------------------------===//

/// The comparison with a constant that is all that a draw is for, or null.
static arith::CmpIOp getComparison(rows::RandomHalfOp half) {
  if (!half->hasOneUse())
    return nullptr;
  auto comparison = dyn_cast<arith::CmpIOp>(*half->user_begin());
  bool isOne = comparison && comparison.getLhs() == half.getResult() && matchPattern(comparison.getRhs(), m_Constant());
  return isOne ? comparison : nullptr;
}

/// Whether two draws are the same and compared alike.
static bool isSameDecision(rows::RandomHalfOp a, rows::RandomHalfOp b) {
  arith::CmpIOp first = getComparison(a), second = getComparison(b);
  APInt firstLimit, secondLimit;
  return first && second && a.getRowWords() == b.getRowWords() && first.getPredicate() == second.getPredicate() &&
         matchPattern(first.getRhs(), m_ConstantInt(&firstLimit)) &&
         matchPattern(second.getRhs(), m_ConstantInt(&secondLimit)) && firstLimit == secondLimit;
}

/// Whether a later phase of all rows decides the same. What rare rows need is not worth a register.
static bool isDecidedAgain(rows::RandomHalfOp half) {
  Operation *phase = half->getParentOp();
  if (!isa<rows::KernelOp>(phase->getParentOp()))
    return false;
  for (Operation *next = phase->getNextNode(); next; next = next->getNextNode())
    if (auto later = dyn_cast<rows::PhaseOp>(next))
      for (auto other : later.getBody().getOps<rows::RandomHalfOp>())
        if (isSameDecision(half, other))
          return true;
  return false;
}

static constexpr int64_t kWordBits = 32;

bool RegisterRowEmitter::takeDecision(Operation *op) {
  auto comparison = dyn_cast<arith::CmpIOp>(op);
  auto half = comparison ? comparison.getLhs().getDefiningOp<rows::RandomHalfOp>() : dyn_cast<rows::RandomHalfOp>(op);
  auto *found = llvm::find_if(decisions, [&](const Decision &decision) {
    return half && decision.half->getParentOp() != half->getParentOp() && isSameDecision(decision.half, half);
  });
  if (found == decisions.end())
    return false;
  if (comparison)
    forEachLane([&] {
      int64_t place = int64_t(getPlace());
      Value bit = builder.both(found->bits[place / kWordBits], int64_t(int32_t(1u << place % kWordBits)));
      Value isSet = builder.compare(arith::CmpIPredicate::ne, bit, 0);
      state.mapping.map(comparison.getResult(), isSet);
    });
  return true;
}

void RegisterRowEmitter::keepDecision(Operation *op) {
  auto comparison = dyn_cast<arith::CmpIOp>(op);
  auto half = comparison ? comparison.getLhs().getDefiningOp<rows::RandomHalfOp>() : rows::RandomHalfOp();
  if (!half || getComparison(half) != comparison || !isDecidedAgain(half))
    return;
  auto *found = llvm::find_if(decisions, [&](const Decision &decision) { return decision.half == half; });
  if (found == decisions.end()) {
    Value none = builder.constant(builder.getI32Type(), 0);
    int64_t words = llvm::divideCeil(plan.getChunks() * plan.lanes, kWordBits);
    decisions.push_back({half, SmallVector<Value>(words, none)});
    found = std::prev(decisions.end());
  }
  forEachLane([&] {
    int64_t place = int64_t(getPlace());
    Value &word = found->bits[place / kWordBits];
    Value bit = builder.constant(builder.getI32Type(), int64_t(int32_t(1u << place % kWordBits)));
    word = builder.either(word, builder.select(state.mapping.lookup(comparison.getResult()), bit, 0));
  });
}
