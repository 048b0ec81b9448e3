// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Units, chunks, and the states that chunks are joined into.

#include "codegen/cuda/attention/ForwardWarp.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::attention;

ForwardWarp::ForwardWarp(Code &code, kernels::KernelBody &body, const AttentionPlan &plan)
    : warp(code, body, plan, /*weights=*/1), code(code), plan(warp.plan),
      columns(countColumns(warp.shape, AttentionShape::kV)) {}

//===------------------------------------------- states ----------------------------------------------------------===//

static SmallVector<Value> concatenate(ArrayRef<Value> a, ArrayRef<Value> b, ArrayRef<Value> c) {
  SmallVector<Value> all(a);
  all.append(b.begin(), b.end());
  all.append(c.begin(), c.end());
  return all;
}

void ForwardWarp::emit() {
  size_t rows = plan.sharedRows;
  warp.forUnits(warp.countRows(), [&](Value number) {
    QueryUnit unit = warp.makeQueryUnit(number);
    Value none = warp.constantFloat(-kInfinity), zero = warp.constantFloat(0.0);
    auto split = [&](ValueRange all) {
      return States{all.take_front(rows), all.slice(rows, rows), all.drop_front(2 * rows)};
    };
    Numbers first = concatenate(Numbers(rows, none), Numbers(rows, zero), Numbers(rows * columns, zero));
    Numbers last = warp.forParts(unit, first, [&](const QueryUnit &part, Numbers before) {
      return code.rolledLoop(warp.getFirstChunk(part.seen), part.seen.end, kChunkKeys, before,
                             [&](Value key, ValueRange carried) -> Numbers {
                               States joined = join(split(carried), emitChunk(part, key));
                               return concatenate(joined.maxima, joined.totals, joined.sums);
                             });
    });
    States states = split(last);
    SmallVector<WarpQuery> queries = warp.makeQueries(unit);
    for (int64_t i = 0; i < plan.sharedRows; ++i)
      code.choose(code.isAtMost(code.constant(i + 1), unit.count), [&] { finish(queries[i], i, states); });
  });
}

/// The state of no keys takes in the first chunk by the same numbers: its factors are 0 and 1.
ForwardWarp::States ForwardWarp::join(const States &states, const States &chunk) {
  States joined;
  for (int64_t i = 0; i < plan.sharedRows; ++i) {
    Value isThere = code.compare(arith::CmpFPredicate::UNE, chunk.maxima[i], -kInfinity);
    ScoreArithmetic::State state =
        warp.numbers.join(states.maxima[i], states.totals[i], chunk.maxima[i], chunk.totals[i]);
    joined.maxima.push_back(code.select(isThere, state.max, states.maxima[i]));
    joined.totals.push_back(code.select(isThere, state.total, states.totals[i]));
    for (int64_t j = i * columns; j < (i + 1) * columns; ++j) {
      Value sum = warp.numbers.joinSums(states.sums[j], chunk.sums[j], state.oldFactor, state.newFactor);
      joined.sums.push_back(code.select(isThere, sum, states.sums[j]));
    }
  }
  return joined;
}

void ForwardWarp::finish(const WarpQuery &query, int64_t row, const States &states) {
  unsigned result = warp.shape.getResult();
  const QueryPlace &place = query.place;
  ScoreArithmetic::State state{states.maxima[row], states.totals[row], {}, {}};
  Value isEmpty = code.isEqual(state.max, -kInfinity);
  if (warp.shape.hasSink) {
    Value sink = warp.load(warp.shape.getSink(), warp.atPlace(warp.shape.getSink(), place));
    state = warp.numbers.joinSink(state.max, state.total, sink);
  }
  Numbers finished;
  for (Value sum : ArrayRef(states.sums).slice(row * columns, columns)) {
    if (warp.shape.hasSink)
      sum = warp.numbers.joinSums(sum, warp.constantFloat(0.0), state.oldFactor, state.newFactor);
    finished.push_back(warp.numbers.finish(sum, state.total, isEmpty));
  }
  warp.storeColumns(finished, result, warp.atPlace(result, place));
  if (!warp.shape.hasStatistics)
    return;
  code.choose(code.isEqual(warp.lane, 0), [&] {
    warp.store(state.max, result + 1, warp.atPlace(result + 1, place));
    warp.store(state.total, result + 2, warp.atPlace(result + 2, place));
  });
}

//===------------------------------------------- a chunk of keys --------------------------------------------------===//

ForwardWarp::States ForwardWarp::emitChunk(const QueryUnit &unit, Value first) {
  States chunk;
  emitWeights(unit, first, chunk);
  warp.synchronize();
  chunk.sums = emitValues(unit, first);
  warp.synchronize();
  return chunk;
}

/// An absent key has the weight -0, which is no weight of a present one. So has one that is dropped, once it is in the
/// sum.
void ForwardWarp::emitWeights(const QueryUnit &unit, Value first, States &chunk) {
  Numbers products = warp.multiplyChunk(unit, first, AttentionShape::kQ, AttentionShape::kK), factors;
  SmallVector<Value> keys = warp.getKeys(first);
  for (auto [i, query] : llvm::enumerate(warp.makeQueries(unit))) {
    Numbers scores, weights, kept = warp.shape.threshold == 0 ? Numbers() : warp.drawKept(query, first);
    for (auto [j, key] : llvm::enumerate(keys))
      scores.push_back(warp.makeScore(query, products[i * plan.ownRows + j], key, unit.lastKey));
    chunk.maxima.push_back(code.add(warp.reduce(rows::ReductionKind::SignedMax, scores), 0.0));
    Value reference = warp.numbers.getReference(chunk.maxima.back());
    for (auto [j, score] : llvm::enumerate(scores)) {
      weights.push_back(warp.numbers.weigh(score, reference));
      Value factor = kept.empty() ? weights.back() : warp.numbers.drop(weights.back(), kept[j], -0.0);
      factors.push_back(code.select(code.isEqual(score, -kInfinity), -0.0, factor));
    }
    chunk.totals.push_back(warp.reduce(rows::ReductionKind::Sum, weights));
  }
  warp.storeWeights(0, factors);
}

/// Whether one of these is Inf or NaN.
static Value isAnySpecial(Code &code, ArrayRef<Value> sums) {
  Value isSpecial = code.truth(false);
  for (Value sum : sums)
    isSpecial = code.either(isSpecial, code.isNaN(code.subtract(sum, sum)));
  return isSpecial;
}

/// The same, where sums of the warp go from thread to thread, so that all of them take the same way.
ForwardWarp::Numbers ForwardWarp::emitValuesOnMatrixUnits(const QueryUnit &unit, Value first) {
  Numbers sums = warp.addKeysOnMatrixUnits(unit, first, AttentionShape::kV);
  Numbers zeros(plan.sharedRows * columns, warp.constantFloat(0.0));
  Value isSpecial = code.create<NVVM::VoteSyncOp>(code.getI1Type(), code.constant(code.getI32Type(), -1),
                                                  isAnySpecial(code, sums), NVVM::VoteSyncKind::any);
  warp.synchronize();
  return code.choose(
      isSpecial, TypeRange(ValueRange(zeros)),
      [&] { return warp.addKeys(zeros, unit, first, AttentionShape::kV, /*skipsAbsent=*/true); },
      [&] { return warp.exchangeSums(sums, columns); });
}

/// The sums of weighted values. Absent keys add 0 to finite sums; others are made again without them.
ForwardWarp::Numbers ForwardWarp::emitValues(const QueryUnit &unit, Value first) {
  if (plan.usesMatrixUnits && warp.getElementType(AttentionShape::kV).isBF16())
    return emitValuesOnMatrixUnits(unit, first);
  Numbers zeros(plan.sharedRows * columns, warp.constantFloat(0.0));
  Numbers sums = warp.addKeys(zeros, unit, first, AttentionShape::kV);
  Value isSpecial = isAnySpecial(code, sums);
  return code.choose(
      isSpecial, TypeRange(ValueRange(sums)),
      [&] { return warp.addKeys(zeros, unit, first, AttentionShape::kV, /*skipsAbsent=*/true); }, [&] { return sums; });
}
