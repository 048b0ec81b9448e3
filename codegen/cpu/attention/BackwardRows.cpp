// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits weights, their gradients and those of scores.

#include "codegen/cpu/attention/BackwardRows.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

Value BackwardRows::atPanel(const BackwardRow &row, Value key) {
  Value panel = code.divide(key, kPanelColumns);
  return at(row.panels, code.multiply(panel, row.panelStride));
}

Value BackwardRows::emitWeights(const BackwardRow &row, Value max, Value sum) {
  rows.emitScores(row.score);
  Value reference = code.spread(max, kPanelColumns), divisor = code.spread(sum, kPanelColumns);
  bool hasDropout = view.shape.threshold != 0;
  SmallVector<Value> zeros(ScoreRows::kVectors, view.splat(0.0));
  auto emitKeys = [&](Value block, ValueRange carried) {
    SmallVector<Value> next, kept = hasDropout ? rows.drawKept(row.score, block) : SmallVector<Value>();
    for (int64_t i = 0; i < ScoreRows::kVectors; ++i) {
      Value key = code.add(block, i * kPanelColumns);
      Value scorePlace = at(row.score.scores, key), gradientPlace = at(row.gradients, key);
      Value score = code.load(view.getVectorType(), scorePlace);
      Value gradient = code.load(view.getVectorType(), gradientPlace);
      Value weight = numbers.makeWeight(score, reference, divisor);
      code.store(weight, scorePlace);
      Value taken = weight;
      if (hasDropout) {
        taken = numbers.drop(weight, kept[i], 0.0);
        gradient = numbers.drop(gradient, kept[i], 0.0);
        code.store(gradient, gradientPlace);
      }
      code.store(taken, atPanel(row, key));
      next.push_back(code.add(carried[i], numbers.makeTerm(weight, gradient)));
    }
    return next;
  };
  SmallVector<Value> lanes = code.loop(0, row.score.keys, ScoreRows::kLanes, zeros, emitKeys);
  return rows.reduce(lanes, [&](Value a, Value b) { return code.add(a, b); });
}

void BackwardRows::emitScoreGradients(const BackwardRow &row, Value mean) {
  Value all = code.spread(mean, kPanelColumns);
  code.loop(0, row.score.keys, kPanelColumns, [&](Value key) {
    Value place = at(row.gradients, key);
    Value weight = code.load(view.getVectorType(), at(row.score.scores, key));
    Value before = code.load(view.getVectorType(), place), slope;
    if (row.score.slopes)
      slope = code.load(view.getVectorType(), at(row.score.slopes, key));
    Value gradient = numbers.makeScoreGradient(weight, before, all, slope);
    code.store(gradient, place);
    code.store(gradient, atPanel(row, key));
  });
}
