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

Value BackwardRows::whereWeighted(Value weight, Value share) {
  Value isZero = code.isEqual(weight, 0.0);
  return code.select(isZero, 0.0, share);
}

Value BackwardRows::emitWeights(const BackwardRow &row, Value max, Value sum) {
  rows.emitScores(row.score);
  Value reference = code.spread(max, kPanelColumns), divisor = code.spread(sum, kPanelColumns);
  double factor = view.shape.keptScale;
  bool hasDropout = view.shape.threshold != 0;
  SmallVector<Value> zeros(ScoreRows::kVectors, view.splat(0.0));
  auto emitKeys = [&](Value block, ValueRange carried) {
    SmallVector<Value> next, kept = hasDropout ? rows.drawKept(row.score, block) : SmallVector<Value>();
    for (int64_t i = 0; i < ScoreRows::kVectors; ++i) {
      Value key = code.add(block, i * kPanelColumns);
      Value scorePlace = at(row.score.scores, key), gradientPlace = at(row.gradients, key);
      Value score = code.load(view.getVectorType(), scorePlace);
      Value gradient = code.load(view.getVectorType(), gradientPlace);
      Value exponential = rows.exponential(code.subtract(score, reference));
      Value share = code.divide(exponential, divisor);
      // Whatever is subtracted from -Inf, -Inf of a row without present keys too, the weight is 0.
      Value weight = code.select(code.isEqual(score, -kInfinity), 0.0, share);
      code.store(weight, scorePlace);
      Value taken = weight;
      if (hasDropout) {
        taken = code.select(kept[i], code.multiply(weight, factor), 0.0);
        gradient = code.select(kept[i], code.multiply(gradient, factor), 0.0);
        code.store(gradient, gradientPlace);
      }
      code.store(taken, atPanel(row, key));
      next.push_back(code.add(carried[i], whereWeighted(weight, code.multiply(weight, gradient))));
    }
    return next;
  };
  SmallVector<Value> lanes = code.loop(0, row.score.keys, ScoreRows::kLanes, zeros, emitKeys);
  return rows.reduce(lanes, [&](Value a, Value b) { return code.add(a, b); });
}

Value BackwardRows::emitSinkGradient(Value sink, Value max, Value sum, Value mean) {
  Value share = code.divide(rows.exponential(code.subtract(sink, max)), sum);
  Value weight = code.select(code.isEqual(sink, -kInfinity), 0.0, share);
  Value gradient = code.negate(code.multiply(weight, mean));
  return code.select(code.isEqual(weight, 0.0), 0.0, gradient);
}

void BackwardRows::emitScoreGradients(const BackwardRow &row, Value mean) {
  Value all = code.spread(mean, kPanelColumns);
  code.loop(0, row.score.keys, kPanelColumns, [&](Value key) {
    Value place = at(row.gradients, key);
    Value weight = code.load(view.getVectorType(), at(row.score.scores, key));
    Value difference = code.subtract(code.load(view.getVectorType(), place), all);
    Value share = code.multiply(weight, difference);
    if (row.score.slopes)
      share = code.multiply(share, code.load(view.getVectorType(), at(row.score.slopes, key)));
    Value gradient = whereWeighted(weight, code.multiply(share, view.shape.scale));
    code.store(gradient, place);
    code.store(gradient, atPanel(row, key));
  });
}
