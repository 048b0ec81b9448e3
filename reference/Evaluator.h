// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference evaluator: runs a function of resid, func, scf, arith, math, tensor and linalg ops in plain float64
// loops. The one oracle of the project; shares no code with any lowering.

#ifndef RESID_REFERENCE_EVALUATOR_H
#define RESID_REFERENCE_EVALUATOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/Array.h"

namespace mlir::resid::reference {

enum class Mode {
  /// Rounds to storage where the semantics say so. add, add_bias, dropout, casts, contractions and user arithmetic are
  /// computed in their arithmetic type (bit-equal to compiled code); norms, statistics and transcendental functions in
  /// float64.
  ExactType,
  /// Rounds nothing until the results are returned.
  Wide
};

struct EvaluationOptions {
  Mode mode = Mode::ExactType;
  /// Results carry the accuracy by which a compiled result may be judged (Array::getAccuracy).
  bool trackAccuracy = false;
  /// Set to true where the evaluation failed because an op or type is not supported, if not null.
  bool *unsupported = nullptr;
  /// Whether the code that is judged has a fused multiply-add. If not, what is defined by one is no longer bit-equal.
  bool hasFMA = true;
  /// Whether it may add up products of two 16-bit floats of one type in any order, with two bits less than an f32 has
  /// (--relax-rounding=products). If so, they are no longer bit-equal.
  bool relaxesProducts = false;

  /// Whether that holds for factors of these element types, with sums of type `arithmetic`.
  bool relaxes(Type a, Type b, Type arithmetic) const {
    return relaxesProducts && a == b && (a.isF16() || a.isBF16()) && arithmetic.isF32();
  }
};

/// The results of `function` on `arguments`. Failures (wrong arguments, an op that is not supported, a row, site or
/// step outside of 32 bits, shapes that disagree) are reported as diagnostics that name the op and its place.
FailureOr<SmallVector<Array>> evaluate(func::FuncOp function, ArrayRef<Array> arguments,
                                       const EvaluationOptions &options = {});

} // namespace mlir::resid::reference

#endif
