// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, folds and helpers of the family Fused.

#include "dialect/ResidDialect.h"

using namespace mlir;
using namespace mlir::resid;

int64_t AddNormOp::getNormalizedRank() {
  if (getGamma())
    return cast<RankedTensorType>(getGamma().getType()).getRank();
  return getNormRank();
}

LogicalResult AddNormOp::verify() { return success(); }
