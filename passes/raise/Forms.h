// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which op of resid an expression is. Looks at expressions only. Not: what becomes of the program (Raise.cpp).

#ifndef RESID_PASSES_RAISE_FORMS_H
#define RESID_PASSES_RAISE_FORMS_H

#include "dialect/NormKinds.h"
#include "passes/raise/ElementExpression.h"

namespace mlir::resid {

struct ActivationForm {
  ActivationKind kind;
  /// up is null where the kind is not gated.
  const ElementNode *x, *up = nullptr;
};

struct NormForm {
  /// Layer or RMS.
  NormKind kind;
  /// gamma and beta may be null.
  const ElementNode *x, *gamma, *beta;
  double epsilon;
  /// How many of the last dimensions it is over.
  unsigned rank;
};

/// The activation whose steps the expression has, one by one, in the arithmetic type, with one rounding at the end.
std::optional<ActivationForm> matchExactActivation(const ElementExpression &expression);

/// The activation or norm that the expression is in real arithmetic. Constants may be off by `tolerance`, relatively.
std::optional<ActivationForm> matchActivation(const ElementExpression &expression, double tolerance);
std::optional<NormForm> matchNorm(const ElementExpression &expression, double tolerance);

/// The epsilon, if `scale` is 1 over the root of epsilon plus the mean of the squares of a row, whose element in the
/// expression is `element`. Rows are along the last dimension.
std::optional<double> matchReciprocalRootMeanSquare(const ElementExpression &expression, const ElementNode *scale,
                                                    const ElementNode *element, double tolerance);

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_FORMS_H
