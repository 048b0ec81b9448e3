// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two walks over the keys of some queries.

#include "codegen/cuda/attention/QueryGradients.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::attention;

QueryGradients::QueryGradients(Code &code, kernels::KernelBody &body, const AttentionPlan &plan)
    : warp(code, body, plan, AttentionShape::kK), code(code), plan(warp.plan) {}

void QueryGradients::emit() {
  int64_t columns = countColumns(warp.shape, AttentionShape::kK);
  warp.forUnits(warp.countRows(), [&](Value number) {
    QueryUnit unit = warp.makeQueryUnit(number);
    Statistics statistics = loadStatistics(unit);
    using Step = function_ref<Numbers(Value first, Numbers sums)>;
    auto forChunks = [&](const QueryUnit &part, ArrayRef<Value> before, Step add) {
      Numbers after = code.rolledLoop(warp.getFirstChunk(part.seen), part.seen.end, plan.ownRows * kWarpThreads, before,
                                      [&](Value first, ValueRange sums) { return add(first, llvm::to_vector(sums)); });
      return warp.takePart(part, std::move(after), before);
    };
    Numbers zeros(plan.sharedRows * (1 + columns), warp.constantFloat(0.0));
    Numbers made = warp.forParts(unit, zeros, [&](const QueryUnit &part, Numbers before) {
      auto meansBefore = ArrayRef(before).take_front(plan.sharedRows);
      Numbers means = forChunks(part, meansBefore, [&](Value first, Numbers sums) {
        return addTerms(part, statistics, first, std::move(sums));
      });
      Numbers sums = forChunks(part, ArrayRef(before).drop_front(plan.sharedRows), [&](Value first, Numbers sums) {
        return addChunk(part, statistics, means, first, std::move(sums));
      });
      means.append(sums.begin(), sums.end());
      return means;
    });
    auto means = ArrayRef(made).take_front(plan.sharedRows), sums = ArrayRef(made).drop_front(plan.sharedRows);
    statistics = loadStatistics(unit);
    warp.forQueries(unit, [&](int64_t row, const WarpQuery &query) {
      code.choose(code.isAtMost(code.constant(row + 1), unit.count),
                  [&] { finish(unit, query, row, statistics, means[row], sums.slice(row * columns, columns)); });
    });
  });
}

QueryGradients::Statistics QueryGradients::loadStatistics(const QueryUnit &unit) {
  Statistics statistics;
  unsigned max = warp.shape.getMax(), sum = warp.shape.getSum();
  warp.forQueries(unit, [&](int64_t, const WarpQuery &query) {
    statistics.max.push_back(warp.load(max, warp.atPlace(max, query.place)));
    statistics.sum.push_back(warp.load(sum, warp.atPlace(sum, query.place)));
  });
  return statistics;
}

QueryGradients::Weights QueryGradients::makeWeights(const QueryUnit &unit, const Statistics &statistics, Value first) {
  Numbers products = warp.multiplyChunk(unit, first, AttentionShape::kQ, AttentionShape::kK);
  Numbers gradients = warp.multiplyChunk(unit, first, warp.shape.getDy(), AttentionShape::kV);
  Numbers keys = warp.getKeyNumbers();
  Weights made;
  warp.forQueries(unit, [&](int64_t row, const WarpQuery &query) {
    SeenHere seen = warp.findSeenHere(query, first, unit.seen.end);
    Numbers kept = warp.shape.threshold == 0 ? Numbers() : warp.drawKept(query, first);
    for (auto [j, key] : llvm::enumerate(keys)) {
      size_t pair = row * plan.ownRows + j;
      Value slope, gradient = gradients[pair];
      Value score = warp.makeScore(seen, products[pair], key, &slope);
      made.weights.push_back(warp.numbers.makeWeight(score, statistics.max[row], statistics.sum[row]));
      made.gradients.push_back(kept.empty() ? gradient : warp.numbers.drop(gradient, kept[j], 0.0));
      made.slopes.push_back(slope);
    }
  });
  return made;
}

QueryGradients::Numbers QueryGradients::addTerms(const QueryUnit &unit, const Statistics &statistics, Value first,
                                                 Numbers means) {
  Weights made = makeWeights(unit, statistics, first);
  for (int64_t i = 0; i < plan.sharedRows; ++i) {
    Numbers terms;
    for (int64_t pair = i * plan.ownRows; pair < (i + 1) * plan.ownRows; ++pair)
      terms.push_back(warp.numbers.makeTerm(made.weights[pair], made.gradients[pair]));
    means[i] = code.add(means[i], warp.reduce(rows::ReductionKind::Sum, terms));
  }
  return means;
}

QueryGradients::Numbers QueryGradients::addChunk(const QueryUnit &unit, const Statistics &statistics,
                                                 ArrayRef<Value> means, Value first, Numbers sums) {
  Weights made = makeWeights(unit, statistics, first);
  Numbers gradients;
  for (auto [pair, weight] : llvm::enumerate(made.weights))
    gradients.push_back(
        warp.numbers.makeScoreGradient(weight, made.gradients[pair], means[pair / plan.ownRows], made.slopes[pair]));
  warp.storeWeights(0, gradients);
  warp.synchronize();
  sums = warp.addKeys(std::move(sums), unit, first, AttentionShape::kK);
  warp.synchronize();
  return sums;
}

void QueryGradients::finish(const QueryUnit &unit, const WarpQuery &query, int64_t row, const Statistics &statistics,
                            Value mean, ArrayRef<Value> sums) {
  const QueryPlace &place = query.place;
  Numbers columns = llvm::map_to_vector(sums, [&](Value sum) { return code.add(sum, 0.0); });
  warp.storeColumns(columns, warp.shape.getDq(), warp.atPlace(warp.shape.getDq(), place));
  code.choose(code.isEqual(warp.lane, 0), [&] {
    warp.storeMean(mean, unit.head, code.add(unit.firstRow, row));
    if (!warp.shape.hasSink)
      return;
    Value sink = warp.load(warp.shape.getSink(), warp.atPlace(warp.shape.getSink(), place));
    Value gradient = warp.numbers.makeSinkGradient(sink, statistics.max[row], statistics.sum[row], mean);
    warp.store(gradient, warp.shape.getDsinks(), warp.atPlace(warp.shape.getDsinks(), place));
  });
}
