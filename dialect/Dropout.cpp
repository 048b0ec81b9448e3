// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, folds and helpers of the family Dropout.

#include "dialect/ResidDialect.h"
#include <cmath>

using namespace mlir;
using namespace mlir::resid;

int64_t resid::getDropoutThreshold(double p) { return std::llround(p * 65536.0); }

double resid::getDropoutScale(int64_t threshold) {
  if (threshold == dropoutDropsAll)
    return 0.0;
  return 65536.0 / static_cast<double>(dropoutDropsAll - threshold);
}

int64_t DropoutOp::getThreshold() { return getDropoutThreshold(getP().convertToDouble()); }

LogicalResult DropoutOp::verify() { return success(); }
