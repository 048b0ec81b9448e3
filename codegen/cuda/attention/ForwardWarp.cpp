// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Units, chunks, and the states that chunks are joined into.

#include "codegen/cuda/attention/ForwardWarp.h"

#include "codegen/cuda/SharedArray.h"
#include "codegen/cuda/rows/OpaqueValues.h"
#include "codegen/cuda/rows/Shuffles.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::attention;

ForwardWarp::ForwardWarp(Code &code, kernels::KernelBody &body, const AttentionPlan &plan)
    : warp(code, body, plan, AttentionShape::kV), code(code), plan(warp.plan),
      columns(countColumns(warp.shape, AttentionShape::kV)) {
  int64_t count = plan.getThreads() * plan.sharedRows * columns;
  sums = code.at(SharedArray(code, warp.getArithmetic(), count, ".sums").getStart(code), warp.getArithmetic(),
                 getNumber<NVVM::ThreadIdXOp>(code));
}

//===------------------------------------------- states ----------------------------------------------------------===//

/// Thread i of the warp keeps the largest score and the sum of query i, which all threads know, and sums of values are
/// in shared memory: in registers, they would take those that scores need.
ForwardWarp::Numbers ForwardWarp::pack(const States &states) {
  Numbers packed;
  for (const Numbers &each : {states.maxima, states.totals}) {
    Value own = each.front();
    for (int64_t i = 1; i < plan.sharedRows; ++i)
      own = code.select(code.isEqual(warp.lane, i), each[i], own);
    packed.push_back(own);
  }
  for (auto [i, sum] : llvm::enumerate(states.sums))
    code.create<LLVM::StoreOp>(sum, atSum(i));
  return packed;
}

ForwardWarp::States ForwardWarp::unpack(ValueRange packed) {
  States states;
  for (int64_t i = 0; i < plan.sharedRows; ++i) {
    states.maxima.push_back(takeFrom(code, packed[0], i));
    states.totals.push_back(takeFrom(code, packed[1], i));
  }
  for (int64_t i = 0; i < plan.sharedRows * columns; ++i)
    states.sums.push_back(code.create<LLVM::LoadOp>(warp.getArithmetic(), atSum(i)));
  return states;
}

Value ForwardWarp::atSum(int64_t number) { return code.at(sums, warp.getArithmetic(), number * plan.getThreads()); }

void ForwardWarp::emit() {
  int64_t rows = plan.sharedRows;
  warp.forUnits(warp.countRows(), [&](Value number) {
    QueryUnit unit = warp.makeQueryUnit(number);
    Value none = warp.constantFloat(-kInfinity), zero = warp.constantFloat(0.0);
    Numbers first = pack({Numbers(rows, none), Numbers(rows, zero), Numbers(rows * columns, zero)});
    Numbers last = warp.forParts(unit, first, [&](const QueryUnit &part, Numbers before) {
      return code.rolledLoop(warp.getFirstChunk(part.seen), part.seen.end, kChunkKeys, before,
                             [&](Value key, ValueRange carried) -> Numbers {
                               States chunk = emitChunk(part, key);
                               return pack(join(unpack(carried), chunk));
                             });
    });
    States states = unpack(last);
    QueryUnit again = warp.makeQueryUnit(makeOpaque(code, number));
    warp.forQueries(again, [&](int64_t row, const WarpQuery &query) {
      code.choose(code.isAtMost(code.constant(row + 1), again.count), [&] { finish(query, row, states); });
    });
  });
}

//===------------------------------------------- few queries ------------------------------------------------------===//

/// A chunk has its number from the origin of its part on, so that a row finds it.
void ForwardWarp::emitOneChunk() {
  Value chunks = countChunks(code, warp.shape), blockRows = code.constant(plan.getBlockRows());
  Value units = code.ceilDivide(warp.countRows(), blockRows);
  // As many units as if each chunk had rows of its own.
  warp.forUnits(code.multiply(code.multiply(units, chunks), blockRows), [&](Value number) {
    Value chunk = code.remainder(number, chunks);
    QueryUnit unit = warp.makeQueryUnit(code.divide(number, chunks));
    warp.forParts(unit, {}, [&](const QueryUnit &part, Numbers) {
      Value first = code.multiply(chunk, kChunkKeys);
      if (part.seen.origin)
        first = code.add(first, part.seen.origin);
      Value isSeen = code.isAtMost(code.add(first, 1), part.seen.end);
      isSeen = code.both(isSeen, code.isAtMost(warp.getFirstChunk(part.seen), first));
      code.choose(isSeen, [&] { storeStates(part, chunk, emitChunk(part, first)); });
      return Numbers();
    });
  });
}

void ForwardWarp::storeStates(const QueryUnit &part, Value chunk, const States &states) {
  int64_t size = warp.shape.getValueSize();
  for (int64_t i = 0; i < plan.sharedRows; ++i) {
    Value isThere = code.isAtMost(code.constant(i + 1), part.count);
    if (part.firstInPart)
      isThere = code.both(isThere, warp.isInPart(part, i));
    code.choose(isThere, [&] {
      Value place = warp.atChunkState(part.head, warp.getRow(part, code.constant(i)), chunk);
      auto store = [&](Value number, Value at) {
        code.create<LLVM::StoreOp>(number, code.at(place, warp.getArithmetic(), at));
      };
      code.choose(code.isEqual(warp.lane, 0), [&] {
        store(states.maxima[i], code.constant(0));
        store(states.totals[i], code.constant(1));
      });
      for (int64_t j = 0; j < columns; ++j) {
        Value column = warp.getOwn(code.constant(0), j);
        code.choose(code.isAtMost(column, size - 1), [&] { store(states.sums[i * columns + j], code.add(column, 2)); });
      }
    });
  }
}

ForwardWarp::States ForwardWarp::loadState(const QueryUnit &unit, Value chunk) {
  Value place = warp.atChunkState(unit.head, warp.getRow(unit, code.constant(0)), chunk);
  auto load = [&](Value at) -> Value {
    return code.create<LLVM::LoadOp>(warp.getArithmetic(), code.at(place, warp.getArithmetic(), at));
  };
  States state{{load(code.constant(0))}, {load(code.constant(1))}, {}};
  for (int64_t j = 0; j < columns; ++j) {
    Value column = code.min(warp.getOwn(code.constant(0), j), warp.shape.getValueSize() - 1);
    state.sums.push_back(load(code.add(column, 2)));
  }
  return state;
}

void ForwardWarp::emitJoin() {
  warp.forUnits(warp.countRows(), [&](Value number) {
    QueryUnit unit = warp.makeQueryUnit(number);
    Value none = warp.constantFloat(-kInfinity), zero = warp.constantFloat(0.0);
    warp.forQueries(unit, [&](int64_t row, const WarpQuery &query) {
      Numbers first = pack({{none}, {zero}, Numbers(columns, zero)});
      Numbers last = code.rolledLoop(warp.getFirstChunk(query.seen), query.seen.end, kChunkKeys, first,
                                     [&](Value key, ValueRange carried) {
                                       States chunk = loadState(unit, warp.getChunkNumber(query.seen, key));
                                       return pack(join(unpack(carried), chunk));
                                     });
      States states = unpack(last);
      code.choose(code.isAtMost(code.constant(row + 1), unit.count), [&] { finish(query, row, states); });
    });
  });
}

//===------------------------------------------- joining ----------------------------------------------------------===//

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

/// A row at a time, in a branch that is always taken, as a grid has blocks. ptxas does not mix what stands in different
/// branches: in one piece, it begins with all rows at once, and then lacks registers.
void ForwardWarp::emitWeights(const QueryUnit &unit, Value first, States &chunk) {
  Numbers products = warp.multiplyChunk(unit, first, AttentionShape::kQ, AttentionShape::kK), factors;
  int64_t vectorRows = warp.getVectorRows();
  warp.forQueries(unit, [&](int64_t row, const WarpQuery &query) {
    ArrayRef<Value> ofRow = ArrayRef(products).slice(row * plan.ownRows, plan.ownRows);
    Value blocks = readAnew(code, code.getLoc(), "%nctaid.x");
    Numbers none(plan.ownRows + 2, warp.constantFloat(0.0));
    Numbers made = code.choose(
        code.compare(arith::CmpIPredicate::sgt, blocks, 0), TypeRange(ValueRange(none)),
        [&] { return emitRowWeights(unit, first, query, ofRow); }, [&] { return none; });
    chunk.totals.push_back(made.pop_back_val());
    chunk.maxima.push_back(made.pop_back_val());
    factors.append(made);
    if ((row + 1) % vectorRows != 0)
      return;
    warp.storeWeights(0, factors, row + 1 - vectorRows);
    factors.clear();
  });
}

/// What is stored of a query's weights, the largest score, and the sum of the weights. An absent key has the weight -0,
/// which is no weight of a present one. So has one that is dropped, once it is in the sum.
ForwardWarp::Numbers ForwardWarp::emitRowWeights(const QueryUnit &unit, Value first, const WarpQuery &query,
                                                 ArrayRef<Value> products) {
  SeenHere seen = warp.findSeenHere(query, first, unit.seen.end);
  Numbers scores, weights, factors, kept = warp.shape.threshold == 0 ? Numbers() : warp.drawKept(query, first);
  for (auto [product, key] : llvm::zip_equal(products, warp.getKeyNumbers()))
    scores.push_back(warp.makeScore(seen, product, key));
  Value largest = code.add(warp.reduce(rows::ReductionKind::SignedMax, scores), 0.0);
  Value reference = warp.numbers.getReference(largest);
  for (auto [j, score] : llvm::enumerate(scores)) {
    weights.push_back(warp.numbers.weigh(score, reference));
    Value factor = kept.empty() ? weights.back() : warp.numbers.drop(weights.back(), kept[j], -0.0);
    factors.push_back(code.select(code.isEqual(score, -kInfinity), -0.0, factor));
  }
  factors.append({largest, warp.reduce(rows::ReductionKind::Sum, weights)});
  return factors;
}

/// The sums of weighted values. Absent keys add 0 to finite sums; others are made again without them.
ForwardWarp::Numbers ForwardWarp::emitValues(const QueryUnit &unit, Value first) {
  Numbers zeros(plan.sharedRows * columns, warp.constantFloat(0.0));
  // Matrix units do so by themselves.
  if (plan.usesMatrixUnits && warp.getElementType(AttentionShape::kV).isBF16())
    return warp.addKeys(zeros, unit, first, AttentionShape::kV, /*skipsAbsent=*/true);
  Numbers sums = warp.addKeys(zeros, unit, first, AttentionShape::kV);
  Value isSpecial = warp.isAnySpecial(sums);
  return code.choose(
      isSpecial, TypeRange(ValueRange(sums)),
      [&] { return warp.addKeys(zeros, unit, first, AttentionShape::kV, /*skipsAbsent=*/true); }, [&] { return sums; });
}
