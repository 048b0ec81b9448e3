// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of `residc --time`. Not: what is timed (codegen/Pipelines.h).

#ifndef RESID_TOOLS_RESIDC_TIMEREPORT_H
#define RESID_TOOLS_RESIDC_TIMEREPORT_H

#include "mlir/Support/Timing.h"

namespace mlir::resid::tools {

/// Wall time alone, in milliseconds and as a part of the whole. MLIR's own table has a column of user time, which on one
/// thread is the wall time again, and counts the whole twice.
std::unique_ptr<OutputStrategy> createTimeReport(llvm::raw_ostream &stream);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESIDC_TIMEREPORT_H
