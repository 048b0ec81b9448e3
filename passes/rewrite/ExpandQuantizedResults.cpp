// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-expand-quantized-results: norms and blocks that quantise, as the ops they are defined by.

#include "dialect/ResidDialect.h"
#include "passes/Passes.h"

namespace mlir::resid {
#define GEN_PASS_DEF_EXPANDQUANTIZEDRESULTS
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

namespace {
struct ExpandQuantizedResults : resid::impl::ExpandQuantizedResultsBase<ExpandQuantizedResults> {
  void runOnOperation() override { expandQuantizedResults(getOperation()); }
};
} // namespace
