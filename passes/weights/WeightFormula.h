// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a rewrite makes of weights, written down as a formula, and its two readings: numbers where the weights are
// constants, ops where they are not. Knows nothing of functions and their arguments; that is Prepare's.

#ifndef RESID_PASSES_WEIGHTS_WEIGHTFORMULA_H
#define RESID_PASSES_WEIGHTS_WEIGHTFORMULA_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::resid {

/// A weight read at one index per axis. Index i is that of the result's axis i; indices from the result's rank on are
/// summed over, within the term alone.
struct WeightFactor {
  Value weight;
  SmallVector<int64_t> indices;
  /// The factor is 1 + weight.
  bool onePlus = false;
};

/// scale · Σ Π factors, or the mean in place of the sum.
struct WeightTerm {
  SmallVector<WeightFactor> factors;
  double scale = 1.0;
  bool mean = false;
};

/// The sum of the terms, one element per index of the result. Examples, W of [in, out]:
///   diag(γ)·W             {{{{W, {0, 1}}, {γ, {0}}}}}, rank 2
///   b + β·W               {{{{b, {0}}}}, {{{β, {1}}, {W, {1, 0}}}}}, rank 1
///   W - mean over columns {{{{W, {0, 1}}}}, {{{W, {0, 2}}}, -1.0, /*mean=*/true}}, rank 2
struct WeightFormula {
  SmallVector<WeightTerm> terms;
  int64_t rank;
  /// What the result is rounded to, once. Every axis of the result is an index of some factor.
  FloatType elementType;
};

/// The elements of a constant of finite size; null where `value` is not such a constant.
DenseFPElementsAttr getConstantWeight(Value value);

/// The result, computed in double and rounded once; null where a weight is not constant.
DenseFPElementsAttr foldFormula(const WeightFormula &formula);

/// The result as linalg ops, computed in f32, or in f64 where a weight or the result is of f64, and rounded once.
Value emitFormula(OpBuilder &builder, Location loc, const WeightFormula &formula);

} // namespace mlir::resid

#endif // RESID_PASSES_WEIGHTS_WEIGHTFORMULA_H
