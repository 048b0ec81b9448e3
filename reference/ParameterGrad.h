// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of parameters in float64: sums of terms, with their magnitudes, by which a result is judged. Internal to
// the evaluator.

#ifndef RESID_REFERENCE_PARAMETERGRAD_H
#define RESID_REFERENCE_PARAMETERGRAD_H

#include "reference/Interpreter.h"

namespace mlir::resid::reference {

/// The sums of the elements of one parameter, and of the magnitudes of their terms.
struct ParameterTerms {
  explicit ParameterTerms(int64_t size) : sums(size), magnitudes(size, 0.0) {}
  void add(int64_t element, double term) { add(element, term, std::fabs(term)); }
  /// A term that is made of numbers of that magnitude, which may have cancelled.
  void add(int64_t element, double term, double magnitude) {
    sums[element].add(term);
    magnitudes[element] += magnitude;
  }
  std::vector<CompensatedSum> sums;
  std::vector<double> magnitudes;
};

} // namespace mlir::resid::reference

#endif
