// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attention and its backward do with scores, as docs/numerics.md and docs/dialect/attention_grad.md fix it: on
// single numbers or on vectors. Not: where these numbers are, nor products and sums.

#ifndef RESID_CODEGEN_ATTENTION_SCOREARITHMETIC_H
#define RESID_CODEGEN_ATTENTION_SCOREARITHMETIC_H

#include "codegen/arithmetic/MathFunctions.h"
#include "codegen/attention/AttentionShape.h"

namespace mlir::resid::attention {

using arithmetic::kInfinity;

class ScoreArithmetic {
public:
  /// All numbers are of the shape's arithmetic type.
  ScoreArithmetic(Code &code, const AttentionShape &shape) : code(code), shape(shape) {}

  /// The larger one; `b` where one is NaN.
  Value larger(Value a, Value b) { return code.select(code.isAbove(a, b), a, b); }
  /// The larger one; a NaN in either makes it NaN.
  Value maximum(Value a, Value b);
  /// exp of 0 or less, but +0 instead of subnormal numbers.
  Value exponential(Value x);

  /// A product of query and key, scaled and capped. With a cap, `slope`, if it is given, gets that of its tanh.
  Value scale(Value product, Value *slope = nullptr);
  /// A score with its element of a mask, of floats or of i1, which leaves it out of `isPresent` (i1; null: it is).
  Value mask(Value score, Value element, Value &isPresent);
  /// A score, or -Inf where it is absent.
  Value hide(Value score, Value isPresent) { return isPresent ? code.select(isPresent, score, -kInfinity) : score; }
  /// What is subtracted from the scores of a chunk: its largest one. Without a present key there is nothing to subtract
  /// -Inf from.
  Value getReference(Value max) { return code.select(code.isEqual(max, -kInfinity), 0.0, max); }
  /// Of a score before it is divided. Whatever is subtracted from -Inf, if it is no NaN, gives 0.
  Value weigh(Value score, Value reference) { return exponential(code.subtract(score, reference)); }
  /// A weight after dropout; `left` where it is dropped.
  Value drop(Value weight, Value isKept, Operand left) {
    return code.select(isKept, code.multiply(weight, shape.keptScale), left);
  }

  /// The state of a row, and by what its sums and those of a chunk are multiplied.
  struct State {
    Value max, total, oldFactor, newFactor;
  };
  /// A state takes in a chunk.
  State join(Value max, Value total, Value chunkMax, Value chunkTotal);
  /// A state takes in its sink, after all chunks.
  State joinSink(Value max, Value total, Value sink);
  /// A sum of weighted values with another one, by the factors of a state.
  Value joinSums(Value sum, Value added, Value oldFactor, Value newFactor) {
    return code.fma(added, newFactor, code.multiply(sum, oldFactor));
  }
  /// An element of a result. `isEmpty`: no key and no sink is present.
  Value finish(Value sum, Value total, Value isEmpty) {
    return code.select(isEmpty, 0.0, code.divide(code.add(sum, 0.0), total));
  }

  // Of the backward.

  /// The weight of a score, +0 where that is -Inf.
  Value makeWeight(Value score, Value max, Value sum);
  /// `share`, or +0 where the weight is 0.
  Value whereWeighted(Value weight, Value share) { return code.select(code.isEqual(weight, 0.0), 0.0, share); }
  /// What a key adds to the sum of weights times gradients.
  Value makeTerm(Value weight, Value gradient) { return whereWeighted(weight, code.multiply(weight, gradient)); }
  /// The gradient of a score. `mean` is the sum of all terms, and `slope` that of a cap, or null.
  Value makeScoreGradient(Value weight, Value gradient, Value mean, Value slope);
  /// What a row gives to its sink.
  Value makeSinkGradient(Value sink, Value max, Value sum, Value mean);

private:
  Code &code;
  const AttentionShape &shape;
};

} // namespace mlir::resid::attention

#endif // RESID_CODEGEN_ATTENTION_SCOREARITHMETIC_H
