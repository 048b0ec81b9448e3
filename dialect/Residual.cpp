// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, folds and helpers of the family Residual.

#include "dialect/ResidDialect.h"

using namespace mlir;
using namespace mlir::resid;

LogicalResult AddOp::verify() { return success(); }

LogicalResult AddBiasOp::verify() { return success(); }
