// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, folds and helpers of the family Norm.

#include "dialect/ResidDialect.h"

using namespace mlir;
using namespace mlir::resid;

/// The rank of gamma says how many dimensions are normalised; without gamma the attribute does.
template <typename NormOp> static int64_t normalizedRank(NormOp op) {
  if (op.getGamma())
    return cast<RankedTensorType>(op.getGamma().getType()).getRank();
  return op.getNormRank();
}

int64_t LayerNormOp::getNormalizedRank() { return normalizedRank(*this); }

int64_t RMSNormOp::getNormalizedRank() { return normalizedRank(*this); }

LogicalResult LayerNormOp::verify() { return success(); }

LogicalResult RMSNormOp::verify() { return success(); }

LogicalResult DyTOp::verify() { return success(); }
