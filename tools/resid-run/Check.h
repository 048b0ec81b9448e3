// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --check: results against the evaluator's, by the accuracy that the evaluator gives with each value.

#ifndef RESID_TOOLS_RESID_RUN_CHECK_H
#define RESID_TOOLS_RESID_RUN_CHECK_H

#include "tools/resid-run/Arrays.h"

namespace mlir::resid::run {

struct Tolerances {
  double rtol, atol;
};

/// The tolerances of `options`, else those that fit the narrowest float type of `function`.
Tolerances getTolerances(const Options &options, func::FuncOp function);

/// Prints the largest error of result `index` and whether all are inside of their bounds; returns that. `wide`: what
/// has no bound is judged by the tolerances, and nothing has to be bit-equal.
bool checkResult(llvm::raw_ostream &os, unsigned index, const Array &found, const Array &expected, bool wide,
                 const Tolerances &tolerances);

/// Whether two results of one type have the same bits; all NaNs count as the same. Prints how many elements have not.
bool compareBits(llvm::raw_ostream &os, unsigned index, const Array &found, const Array &expected);

} // namespace mlir::resid::run

#endif
