// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kinds of activations mean. The one place that says so: the verifier, the lowering and the evaluator ask
// here. Not: the steps of a function, which the lowering and the evaluator each have.

#ifndef RESID_DIALECT_ACTIVATIONKINDS_H
#define RESID_DIALECT_ACTIVATIONKINDS_H

#include "dialect/ResidEnums.h"
#include <optional>

namespace mlir::resid {

/// What is applied to x.
enum class ActivationFunction { ReLU, GELU, GELUTanh, SiLU, Sigmoid, ReLU2 };

/// One line of the table of activation kinds.
struct ActivationRule {
  ActivationKind kind;
  ActivationFunction function;
  /// Whether the function of x is multiplied by another operand.
  bool isGated;
  /// Whether both may have a limit, and whether they always have one, the function a factor alpha on what it takes exp
  /// of, and the other operand 1 added to it.
  bool mayHaveLimit = false, isClamped = false;
};

/// The rule of a kind.
const ActivationRule &getActivationRule(ActivationKind kind);

/// The gated kind of the same function, if there is one.
std::optional<ActivationKind> getGatedKind(ActivationKind kind);

} // namespace mlir::resid

#endif // RESID_DIALECT_ACTIVATIONKINDS_H
