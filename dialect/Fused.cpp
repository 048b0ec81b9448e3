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

bool AddNormOp::hasDropout() { return static_cast<bool>(getSeed()); }

int64_t AddNormOp::getThreshold() { return hasDropout() ? getDropoutThreshold(getP()->convertToDouble()) : 0; }

Value AddNormOp::getMean() { return getStatistics().size() == 3 ? getStatistics()[0] : Value(); }

Value AddNormOp::getMeanCorrection() { return getStatistics().size() == 3 ? getStatistics()[1] : Value(); }

Value AddNormOp::getRstd() { return getStatistics().empty() ? Value() : getStatistics().back(); }

LogicalResult AddNormOp::verify() { return success(); }
