// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coefficients of several streams: a product, and the root mean square of all streams after it. Looks at the program
// only.

#ifndef RESID_PASSES_RAISE_PROJECTFORM_H
#define RESID_PASSES_RAISE_PROJECTFORM_H

#include "passes/raise/ElementExpression.h"
#include <string>

namespace mlir::resid {

struct ProjectForm {
  /// [..., n, D], and [m, n*D].
  Value x, weight;
  double epsilon;
};

/// The projection that the expression is in real arithmetic: of streams that are joined to rows, times their reciprocal
/// root mean square. Constants may be off by `tolerance`, relatively. If it is nearly one, `refusal` says why it is
/// not.
std::optional<ProjectForm> matchProject(const ElementExpression &expression, double tolerance, std::string &refusal);

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_PROJECTFORM_H
