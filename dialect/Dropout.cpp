// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, folds and helpers of the family Dropout.

#include "dialect/ResidDialect.h"

using namespace mlir;
using namespace mlir::resid;

#include <cmath>

int64_t DropoutOp::getThreshold() { return std::llround(getP().convertToDouble() * 65536.0); }

LogicalResult DropoutOp::verify() { return success(); }
