// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/attention/ScoreArithmetic.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::attention;

Value ScoreArithmetic::maximum(Value a, Value b) {
  Value isNaN = code.compare(arith::CmpFPredicate::UNO, a, b);
  return code.select(isNaN, std::numeric_limits<double>::quiet_NaN(), larger(a, b));
}

Value ScoreArithmetic::exponential(Value x) { return arithmetic::emitDecay(code, x); }

/// With a cap, C·tanh(s/C).
Value ScoreArithmetic::scale(Value product, Value *slope) {
  Value score = code.multiply(product, shape.scale);
  if (shape.cap == 0)
    return score;
  Value bent = arithmetic::emitTanh(code, code.divide(score, shape.cap));
  if (slope)
    *slope = code.fma(code.negate(bent), bent, 1);
  return code.multiply(shape.cap, bent);
}

Value ScoreArithmetic::mask(Value score, Value element, Value &isPresent) {
  if (!getElementTypeOrSelf(element).isInteger(1))
    return code.add(score, code.castFloat(element, shape.arithmetic));
  isPresent = isPresent ? code.both(isPresent, element) : element;
  return score;
}

ScoreArithmetic::State ScoreArithmetic::join(Value max, Value total, Value chunkMax, Value chunkTotal) {
  State state;
  state.max = maximum(max, chunkMax);
  state.oldFactor = exponential(code.subtract(max, state.max));
  state.newFactor = exponential(code.subtract(chunkMax, state.max));
  state.total = joinSums(total, chunkTotal, state.oldFactor, state.newFactor);
  return state;
}

/// A sink is a chunk with a sum of 1 and without values. Where there is none, the factors leave the sums as they are.
ScoreArithmetic::State ScoreArithmetic::joinSink(Value max, Value total, Value sink) {
  auto number = [&](double value) { return code.constant(shape.arithmetic, value); };
  Value one = number(1.0), zero = number(0.0), none = number(-kInfinity);
  State state = join(max, total, code.add(sink, zero), one);
  Value isEmpty = code.isEqual(max, none);
  Value isThere = code.compare(arith::CmpFPredicate::UNE, sink, none);
  return {code.select(isThere, state.max, max), code.select(isThere, code.select(isEmpty, one, state.total), total),
          code.select(isThere, state.oldFactor, one), code.select(isThere, state.newFactor, zero)};
}

Value ScoreArithmetic::makeWeight(Value score, Value max, Value sum) {
  Value share = code.divide(weigh(score, max), sum);
  // -Inf less -Inf, of a row without present keys, is no weight either.
  return code.select(code.isEqual(score, -kInfinity), 0.0, share);
}

Value ScoreArithmetic::makeScoreGradient(Value weight, Value gradient, Value mean, Value slope) {
  Value share = code.multiply(weight, code.subtract(gradient, mean));
  if (slope)
    share = code.multiply(share, slope);
  return whereWeighted(weight, code.multiply(share, shape.scale));
}

Value ScoreArithmetic::makeSinkGradient(Value sink, Value max, Value sum, Value mean) {
  Value weight = makeWeight(sink, max, sum);
  return whereWeighted(weight, code.negate(code.multiply(weight, mean)));
}
