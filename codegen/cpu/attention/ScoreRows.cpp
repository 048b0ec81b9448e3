// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits scale, mask, maximum, exponentials and their sum: two passes over a row of scores that stays in the cache.

#include "codegen/cpu/attention/ScoreRows.h"

#include "codegen/arithmetic/Philox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

void ScoreRow::see(AttentionView &view, const QueryPlace &place, Value first) {
  Code &code = view.code;
  KeyRange seen = view.findSeen(place);
  Value none = code.constant(0);
  visible = code.max(code.min(keys, code.subtract(seen.end, first)), none);
  if (seen.first)
    hidden = code.max(code.min(keys, code.subtract(seen.first, first)), none);
  constexpr unsigned operand = attention::AttentionShape::kMask;
  if (view.shape.hasMask)
    mask = view.advance(view.atPlace(operand, place), operand, attention::kKey, first);
  if (view.shape.threshold != 0) {
    firstKey = first;
    randomRow = view.getRandomRow(place);
  }
}

//===------------------------------------------- arithmetic -------------------------------------------------------===//

Value ScoreRows::reduce(ArrayRef<Value> lanes, function_ref<Value(Value, Value)> combine) {
  SmallVector<Value> vectors(lanes);
  for (size_t half = vectors.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      vectors[i] = combine(vectors[i], vectors[i + half]);
  Value all = vectors.front();
  for (int32_t half = kPanelColumns / 2; half > 0; half /= 2) {
    SmallVector<int32_t> upper;
    for (int32_t lane = 0; lane < kPanelColumns; ++lane)
      upper.push_back((lane + half) % kPanelColumns);
    all = combine(all, code.create<LLVM::ShuffleVectorOp>(all, all, upper));
  }
  return code.create<LLVM::ExtractElementOp>(all, code.constant(0));
}

Value ScoreRows::hasAny(ArrayRef<Value> flags) {
  Value all = flags.front();
  for (Value more : flags.drop_front())
    all = code.either(all, more);
  Type bits = code.getIntegerType(kPanelColumns);
  Value number = code.create<LLVM::BitcastOp>(bits, all);
  return code.compare(arith::CmpIPredicate::ne, number, 0);
}

//===------------------------------------------- the two passes ---------------------------------------------------===//

/// Which of 16 keys this row may see.
Value ScoreRows::findPresent(const ScoreRow &row, Value key) {
  SmallVector<int32_t> numbers;
  for (int32_t lane = 0; lane < kPanelColumns; ++lane)
    numbers.push_back(lane);
  auto type = VectorType::get(kPanelColumns, code.getI32Type());
  Value lanes = code.create<arith::ConstantOp>(DenseElementsAttr::get(type, ArrayRef(numbers)));
  auto compareWith = [&](Value place, arith::CmpIPredicate predicate) -> Value {
    Value left = code.castInteger(code.subtract(place, key), code.getI32Type());
    return code.compare(predicate, lanes, code.spread(left, kPanelColumns));
  };
  Value isBeforeEnd = compareWith(row.visible, arith::CmpIPredicate::slt);
  if (!row.hidden)
    return isBeforeEnd;
  return code.both(isBeforeEnd, compareWith(row.hidden, arith::CmpIPredicate::sge));
}

/// Scores of 16 keys; -Inf for those that are absent. `isVisible`: none is hidden from this row.
Value ScoreRows::loadScore(const ScoreRow &row, Value key, Value place, bool isVisible) {
  Value isPresent, slope;
  Value score = numbers.scale(code.load(view.getVectorType(), place), row.slopes ? &slope : nullptr);
  if (slope)
    code.store(slope, code.at(row.slopes, view.getArithmetic(), key));
  if (!isVisible)
    isPresent = findPresent(row, key);
  if (row.mask) {
    unsigned operand = attention::AttentionShape::kMask;
    Value count;
    if (!isVisible)
      count = code.max(code.min(code.subtract(row.keys, key), kPanelColumns), 0);
    Value mask = view.runs.load(view.getElementType(operand), view.advance(row.mask, operand, attention::kKey, key),
                                view.getStride(operand, attention::kKey), count);
    score = numbers.mask(score, mask, isPresent);
  }
  return numbers.hide(score, isPresent);
}

/// Of the keys [first, end), 64 at a time. Carried along are the largest score of each lane, and whether there was a
/// NaN.
SmallVector<Value> ScoreRows::findLargest(const ScoreRow &row, Value first, Value end, bool areVisible,
                                          ValueRange carried) {
  return code.loop(first, end, ScoreRows::kLanes, carried, [&](Value block, ValueRange before) {
    SmallVector<Value> next(before), scores;
    for (int64_t i = 0; i < kVectors; ++i) {
      Value key = code.add(block, i * kPanelColumns);
      Value place = code.at(row.scores, view.getArithmetic(), key);
      scores.push_back(loadScore(row, key, place, areVisible));
      code.store(scores.back(), place);
      next[i] = numbers.larger(scores.back(), before[i]);
    }
    // One comparison tells of two vectors.
    for (int64_t i = 0; i < kVectors; i += 2) {
      Value isNaN = code.compare(arith::CmpFPredicate::UNO, scores[i], scores[i + 1]);
      Value &flags = next[kVectors + i / 2];
      flags = code.either(flags, isNaN);
    }
    return next;
  });
}

ScoreRows::Lanes ScoreRows::findLargest(const ScoreRow &row) {
  auto flagType = VectorType::get(kPanelColumns, code.getI1Type());
  Value none = code.create<arith::ConstantOp>(code.getZeroAttr(flagType));
  SmallVector<Value> carried(kVectors, view.splat(-kInfinity));
  carried.append(kVectors / 2, none);
  Value lanes = code.constant(ScoreRows::kLanes), whole = code.multiply(code.divide(row.visible, lanes), lanes);
  Value first = row.from;
  if (row.hidden) {
    first = code.multiply(code.ceilDivide(row.hidden, lanes), lanes), whole = code.max(first, whole);
    carried = findLargest(row, row.from, code.min(first, row.keys), /*areVisible=*/false, carried);
  }
  carried = findLargest(row, first, whole, /*areVisible=*/true, carried);
  carried = findLargest(row, whole, row.keys, /*areVisible=*/false, carried);
  Lanes found;
  found.max.assign(carried.begin(), carried.begin() + kVectors);
  found.isNaN.assign(carried.begin() + kVectors, carried.end());
  return found;
}

/// Stores the weights, and gives the lanes of their sum.
SmallVector<Value> ScoreRows::emitWeights(const ScoreRow &row, Value reference, bool marksAbsent) {
  SmallVector<Value> first(kVectors, view.splat(0.0));
  Value left = view.splat(marksAbsent ? -0.0 : 0.0);
  return code.loop(row.from, row.keys, ScoreRows::kLanes, first, [&](Value block, ValueRange carried) {
    SmallVector<Value> next, kept = view.shape.threshold == 0 ? SmallVector<Value>() : drawKept(row, block);
    for (int64_t i = 0; i < kVectors; ++i) {
      Value place = code.at(row.scores, view.getArithmetic(), code.add(block, i * kPanelColumns));
      Value score = code.load(view.getVectorType(), place);
      Value weight = numbers.weigh(score, reference), factor = weight;
      if (!kept.empty())
        factor = numbers.drop(weight, kept[i], left);
      Value isAbsent = marksAbsent ? code.isEqual(score, -kInfinity) : Value();
      code.store(marksAbsent ? code.select(isAbsent, left, factor) : factor, place);
      next.push_back(code.add(carried[i], weight));
    }
    return next;
  });
}

SmallVector<Value> ScoreRows::drawKept(const ScoreRow &row, Value block) {
  Value call = arithmetic::emitCounterOf(code, code.getLoc(), code.add(row.firstKey, block));
  if (view.firstCall)
    call = code.add(view.firstCall, call);
  auto [low, high] = arithmetic::emitPhiloxColumns(code, code.getLoc(), {call, row.randomRow, view.site, view.step},
                                                   view.seed, ScoreRows::kLanes);
  SmallVector<Value> kept;
  for (Value halves : {low, high})
    for (int32_t first = 0; first < ScoreRows::kLanes / 2; first += kPanelColumns) {
      auto lanes = llvm::to_vector(llvm::seq<int32_t>(first, first + kPanelColumns));
      Value some = code.create<LLVM::ShuffleVectorOp>(halves, halves, lanes);
      Value wide = code.castInteger(some, code.getI32Type());
      kept.push_back(code.compare(arith::CmpIPredicate::uge, wide, view.shape.threshold));
    }
  return kept;
}

Value ScoreRows::emitScores(const ScoreRow &row) {
  Lanes lanes = findLargest(row);
  Value largest = reduce(lanes.max, [&](Value a, Value b) { return numbers.larger(a, b); });
  return code.select(hasAny(lanes.isNaN), std::numeric_limits<double>::quiet_NaN(), code.add(largest, 0.0));
}

Value ScoreRows::emitWeights(const ScoreRow &row, Value max) {
  Value reference = code.spread(numbers.getReference(max), kPanelColumns);
  SmallVector<Type> types(kVectors, view.getVectorType());
  SmallVector<Value> sums = code.choose(
      row.marksAbsent, types, [&] { return emitWeights(row, reference, /*marksAbsent=*/true); },
      [&] { return emitWeights(row, reference, /*marksAbsent=*/false); });
  return reduce(sums, [&](Value a, Value b) { return code.add(a, b); });
}
