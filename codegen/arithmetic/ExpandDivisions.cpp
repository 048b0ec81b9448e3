// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Divisions that round up or down, as LLVM has none. Not upstream's arith-expand: that also turns arith.maximumf and
// minimumf into a comparison, which takes -0 and +0 for equal, while LLVM's own intrinsics order them as MLIR does.

#include "codegen/arithmetic/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::resid::arithmetic {
#define GEN_PASS_DEF_EXPANDDIVISIONS
#include "codegen/arithmetic/Passes.h.inc"
} // namespace mlir::resid::arithmetic

using namespace mlir;
using namespace mlir::resid;

namespace {

struct ExpandDivisions : public arithmetic::impl::ExpandDivisionsBase<ExpandDivisions> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
