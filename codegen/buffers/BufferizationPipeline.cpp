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

void buffers::buildBufferizationPipeline(OpPassManager &manager, bool record) {
  manager.addPass(createDecomposeAggregates());
  manager.addPass(createFillSplats());
  manager.addPass(createPackStrided());
  manager.addPass(createTrackDestinations());
  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  // The type of an empty tensor's buffer would be unknown where branches of a condition meet: any strides.
  manager.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  options.allowReturnAllocsFromLoops = true;
  manager.addPass(bufferization::createOneShotBufferizePass(options));
  addCleanup(manager);
  manager.addPass(createAllocateSums());
  manager.addPass(contraction::createAllocatePanels());
  manager.addPass(attention::createAllocateAttention());
  addCleanup(manager);
  manager.addPass(blocks::createFormRowBlocks(blocks::FormRowBlocksOptions{record}));
}

void buffers::registerBufferPassesAndPipelines() {
  registerResidBuffersPasses();
  blocks::registerBlocksPasses();
  PassPipelineRegistration<>("resid-bufferize", "tensors to memrefs; kernels write into the destinations themselves",
                             [](OpPassManager &manager) { buildBufferizationPipeline(manager); });
}
