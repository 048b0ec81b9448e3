// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk over the queries of some keys: heads ascending, and in each its queries, ascending.

#include "codegen/cuda/attention/KeyGradients.h"

#include "codegen/arithmetic/Philox.h"
#include "codegen/cuda/rows/Shuffles.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::attention;

KeyGradients::KeyGradients(Code &code, kernels::KernelBody &body, const AttentionPlan &plan)
    : warp(code, body, plan, {AttentionShape::kQ, body.as<AttentionShape>().getDy()}), code(code), plan(warp.plan) {}

//===------------------------------------------- units ------------------------------------------------------------===//

KeyGradients::Unit KeyGradients::makeUnit(Value number) {
  Unit unit;
  Value all = warp.shape.keys.value;
  std::tie(unit.head, unit.firstOfBlock) = warp.findBlock(number, all);
  unit.first = code.add(unit.firstOfBlock, warp.rowsBefore);
  unit.count = code.subtract(all, unit.first);
  return unit;
}

/// The queries that may see one of the block's keys.
KeyRange KeyGradients::findQueries(const Unit &unit) {
  SeenKeys seen = warp.shape.getSeenKeys();
  KeyRange queries{code.constant(0), warp.shape.queries.value};
  if (seen.end)
    queries.first = code.max(queries.first, code.subtract(unit.firstOfBlock, *seen.end - 1));
  if (seen.first)
    queries.end = code.min(queries.end, code.add(unit.firstOfBlock, plan.getBlockRows() - *seen.first));
  return queries;
}

void KeyGradients::emit() {
  int64_t ofKeys = countColumns(warp.shape, AttentionShape::kK);
  int64_t ofValues = countColumns(warp.shape, AttentionShape::kV);
  warp.forUnits(warp.shape.keys.value, [&](Value number) {
    Unit unit = makeUnit(number);
    KeyRange seeing = findQueries(unit);
    Value group = warp.shape.group.value, firstHead = code.multiply(unit.head.number, group);
    Numbers zeros(plan.sharedRows * (ofKeys + ofValues), warp.constantFloat(0.0));
    Numbers sums = code.rolledLoop(0, group, 1, zeros, [&](Value head, ValueRange carried) -> Numbers {
      return code.rolledLoop(seeing.first, seeing.end, plan.ownRows * kWarpThreads, carried,
                             [&](Value first, ValueRange before) {
                               Queries queries{code.add(firstHead, head), first, seeing.end};
                               return addQueries(unit, queries, llvm::to_vector(before));
                             });
    });
    for (int64_t i = 0; i < plan.sharedRows; ++i)
      code.choose(code.isAtMost(code.constant(i + 1), unit.count), [&] {
        auto ofKey = ArrayRef(sums).slice(i * ofKeys, ofKeys);
        auto ofValue = ArrayRef(sums).slice(plan.sharedRows * ofKeys + i * ofValues, ofValues);
        finish(unit, i, warp.shape.getDk(), ofKey);
        finish(unit, i, warp.shape.getDv(), ofValue);
      });
  });
}

void KeyGradients::finish(const Unit &unit, int64_t key, unsigned operand, ArrayRef<Value> sums) {
  Numbers columns = llvm::map_to_vector(sums, [&](Value sum) { return code.add(sum, 0.0); });
  warp.storeColumns(columns, operand,
                    warp.advance(warp.atHead(operand, unit.head), operand, kKey, code.add(unit.first, key)));
}

//===------------------------------------------- some queries -----------------------------------------------------===//

/// The warp's keys of one operand times queries of another one.
KeyGradients::Numbers KeyGradients::multiply(const Unit &unit, unsigned ofKeys, const Queries &queries,
                                             unsigned ofQueries) {
  Value head = warp.atHead(ofKeys, unit.head), last = code.subtract(warp.shape.keys.value, 1);
  auto locateKey = [&](Value number) {
    return warp.advance(head, ofKeys, kKey, code.min(code.add(unit.first, number), last));
  };
  auto locateLast = [&](Value number) { return warp.atPlace(ofQueries, getPlace(unit, queries, number)); };
  auto locateQuery = [&](Value number) {
    return warp.atPlace(ofQueries, {unit.head.batch, queries.head, code.add(queries.first, number)});
  };
  Value areThere = code.isAtMost(code.add(queries.first, plan.ownRows * kWarpThreads), queries.end);
  return warp.multiply({ofKeys, locateKey}, {ofQueries, locateLast, locateQuery, areThere});
}

/// The query with this number of those from the first one on, or the last one.
QueryPlace KeyGradients::getPlace(const Unit &unit, const Queries &queries, Value number) {
  Value query = code.min(code.add(queries.first, number), code.subtract(queries.end, 1));
  return {unit.head.batch, queries.head, query};
}

/// Leaves what the thread's queries give to keys and values in shared memory.
void KeyGradients::makeWeights(const Unit &unit, const Queries &queries) {
  constexpr unsigned q = AttentionShape::kQ, k = AttentionShape::kK, v = AttentionShape::kV;
  unsigned dy = warp.shape.getDy(), max = warp.shape.getMax(), sum = warp.shape.getSum();
  Numbers products = multiply(unit, k, queries, q), gradients = multiply(unit, v, queries, dy);
  Numbers ofKeys(products.size()), ofValues(products.size());
  for (int64_t j = 0; j < plan.ownRows; ++j) {
    WarpQuery query = warp.makeQuery(getPlace(unit, queries, warp.getOwn(code.constant(0), j)));
    Value largest = warp.load(max, warp.atPlace(max, query.place)), kept;
    Value total = warp.load(sum, warp.atPlace(sum, query.place)), mean = warp.loadMean(unit.head, query.place);
    if (warp.shape.threshold != 0) {
      Value inCall = code.remainder(unit.first, arithmetic::kColumnsPerCounter);
      kept = code.shiftRight(warp.drawCall(query, code.subtract(unit.first, inCall)),
                             code.castInteger(inCall, code.getI32Type()));
    }
    SeenHere seen = warp.findSeenHere(query, unit.first, warp.shape.keys.value);
    for (int64_t i = 0; i < plan.sharedRows; ++i) {
      size_t pair = i * plan.ownRows + j;
      Value slope, score = warp.makeScore(seen, products[pair], code.constant(code.getI32Type(), i), &slope);
      Value weight = warp.numbers.makeWeight(score, largest, total), gradient = gradients[pair];
      ofValues[pair] = weight;
      if (kept) {
        Value isKept = code.castInteger(code.shiftRight(kept, i), code.getI1Type());
        ofValues[pair] = warp.numbers.drop(weight, isKept, 0.0);
        gradient = warp.numbers.drop(gradient, isKept, 0.0);
      }
      ofKeys[pair] = warp.numbers.makeScoreGradient(weight, gradient, mean, slope);
    }
  }
  warp.storeWeights(kOfKeys, ofKeys);
  warp.storeWeights(kOfValues, ofValues);
}

KeyGradients::Numbers KeyGradients::addQueries(const Unit &unit, const Queries &queries, Numbers sums) {
  makeWeights(unit, queries);
  warp.synchronize();
  Value none = code.constant(0);
  Value count = code.min(plan.ownRows * kWarpThreads, code.subtract(queries.end, queries.first));
  auto addTo = [&](ArrayRef<Value> before, int64_t list, unsigned operand) {
    auto locate = [&](Value query) {
      return warp.atPlace(operand, {unit.head.batch, queries.head, code.add(queries.first, query)});
    };
    return warp.addWeighted(llvm::to_vector(before), list, none, count, operand, locate);
  };
  auto ofKeys = ArrayRef(sums).take_front(plan.sharedRows * countColumns(warp.shape, AttentionShape::kK));
  Numbers next = addTo(ofKeys, kOfKeys, AttentionShape::kQ);
  next.append(addTo(ArrayRef(sums).drop_front(ofKeys.size()), kOfValues, warp.shape.getDy()));
  warp.synchronize();
  return next;
}
