// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient through the statistics that a norm gives as results.

#ifndef RESID_PASSES_GRAD_NORMSTATISTICS_H
#define RESID_PASSES_GRAD_NORMSTATISTICS_H

#include "dialect/NormKinds.h"
#include "passes/grad/Gradients.h"

namespace mlir::resid {

/// Adds to the gradient of x what comes through the statistics of each row (of each group) of N elements:
/// (dmean - (drstd·rstd³)·(x - mean))/N. A correction of the mean has no gradient: it is what the mean is rounded by,
/// and that counts as the identity. Nothing is made where no statistic has a gradient.
void addStatisticsGradient(Gradients &gradients, const NormParts &parts, ValueRange statistics);

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_NORMSTATISTICS_H
