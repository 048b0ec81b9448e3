// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StructuredForm.h.

#include "passes/grad/StructuredForm.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/grad/Gradients.h"

using namespace mlir;
using namespace mlir::resid;

void resid::formGenericOps(ArrayRef<Operation *> ops) {
  SmallVector<Operation *> named, elementwise;
  for (Operation *op : ops) {
    if (isa<GradientOpInterface>(op))
      continue;
    if (isa<linalg::LinalgOp>(op))
      named.push_back(op);
    else if (OpTrait::hasElementwiseMappableTraits(op))
      elementwise.push_back(op);
  }
  for (Operation *op : named) {
    IRRewriter rewriter(op);
    // What cannot be written so has no rule either, and that is said later.
    (void)linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(op));
  }
  if (elementwise.empty())
    return;
  RewritePatternSet patterns(elementwise.front()->getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps).enableFolding(false);
  (void)applyOpPatternsGreedily(elementwise, std::move(patterns), config);
}
