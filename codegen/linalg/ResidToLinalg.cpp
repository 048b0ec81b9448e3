// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass resid-to-linalg: conversion target and the calls of the families; the formulas are in the families' files.

#include "codegen/linalg/Passes.h"
#include "codegen/linalg/Patterns.h"

namespace mlir::resid {
#define GEN_PASS_DEF_RESIDTOLINALG
#include "codegen/linalg/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

namespace {
struct ResidToLinalg : resid::impl::ResidToLinalgBase<ResidToLinalg> {
  void runOnOperation() override {
    MLIRContext &context = getContext();
    if (failed(lowerConditions(getOperation())) || failed(requireLookups(getOperation())))
      return signalPassFailure();
    requireSlices(getOperation());
    RewritePatternSet patterns(&context);
    populateResidualToLinalg(patterns);
    populateNormToLinalg(patterns);
    populateDropoutToLinalg(patterns);
    populateFusedToLinalg(patterns);
    populateAttentionToLinalg(patterns);
    populateSubLayersToLinalg(patterns);
    populateRotaryToLinalg(patterns);
    populateGradToLinalg(patterns);
    populateScalarGradToLinalg(patterns);
    populateBatchNormToLinalg(patterns);
    populateCrossEntropyToLinalg(patterns);
    populateEmbeddingToLinalg(patterns);
    populateStreamsToLinalg(patterns);
    populateProjectionToLinalg(patterns);
    populateSinkhornToLinalg(patterns);
    populateQuantizeToLinalg(patterns);
    ConversionTarget target(context);
    target.addIllegalDialect<ResidDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
