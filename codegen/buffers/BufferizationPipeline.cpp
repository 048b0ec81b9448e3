// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the passes from tensors to buffers, and their registration.

#include "codegen/attention/Passes.h"
#include "codegen/blocks/Passes.h"
#include "codegen/buffers/Passes.h"
#include "codegen/contractions/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::resid;

static void addCleanup(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

void buffers::buildBufferizationPipeline(OpPassManager &manager, const BufferizationOptions &options) {
  manager.addPass(createDecomposeAggregates());
  FillSplatsOptions fill;
  if (options.isForDevice)
    fill.storedBytes = 0;
  manager.addPass(createFillSplats(fill));
  manager.addPass(createPackStrided());
  manager.addPass(createTrackDestinations());
  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  // The type of an empty tensor's buffer would be unknown where branches of a condition meet: any strides.
  manager.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  bufferization::OneShotBufferizePassOptions oneShot;
  oneShot.bufferizeFunctionBoundaries = true;
  oneShot.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  oneShot.allowReturnAllocsFromLoops = true;
  manager.addPass(bufferization::createOneShotBufferizePass(oneShot));
  addCleanup(manager);
  manager.addPass(createAllocateSums(AllocateSumsOptions{options.isForDevice}));
  manager.addPass(contraction::createAllocatePanels());
  manager.addPass(attention::createAllocateAttention());
  addCleanup(manager);
  manager.addPass(blocks::createFormRowBlocks(blocks::FormRowBlocksOptions{options.record}));
}

void buffers::registerBufferPassesAndPipelines() {
  registerResidBuffersPasses();
  blocks::registerBlocksPasses();
  PassPipelineRegistration<>("resid-bufferize", "tensors to memrefs; kernels write into the destinations themselves",
                             [](OpPassManager &manager) { buildBufferizationPipeline(manager); });
}
