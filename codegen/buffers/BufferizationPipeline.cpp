// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the passes from tensors to buffers, and their registration.

#include "codegen/blocks/Passes.h"
#include "codegen/buffers/Passes.h"
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

void buffers::buildBufferizationPipeline(OpPassManager &manager, std::shared_ptr<const kernels::Target> target,
                                         const BufferizationOptions &options) {
  manager.addPass(createDecomposeAggregates());
  FillSplatsOptions fill;
  if (target->getDevice())
    fill.storedBytes = 0; // a device reads no constants of the object
  manager.addPass(createFillSplats(fill));
  if (target->getDevice())
    manager.addPass(createCopyConstants());
  manager.addPass(createPackStrided());
  manager.addPass(createTrackDestinations());
  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  manager.addPass(createPlaceStreams());
  // The type of an empty tensor's buffer would be unknown where branches of a condition meet: any strides.
  manager.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  bufferization::OneShotBufferizePassOptions oneShot;
  oneShot.bufferizeFunctionBoundaries = true;
  oneShot.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  oneShot.allowReturnAllocsFromLoops = true;
  manager.addPass(bufferization::createOneShotBufferizePass(oneShot));
  addCleanup(manager);
  SpreadTemporariesOptions spread;
  spread.onStack = !target->getDevice();
  manager.addPass(createSpreadTemporaries(spread));
  manager.addPass(createAllocateScratch(target));
  addCleanup(manager);
  target->addBufferPasses(manager);
  if (!target->getDevice())
    manager.addPass(blocks::createFormRowBlocks(blocks::FormRowBlocksOptions{options.record}));
}

void buffers::registerBufferPassesAndPipelines(std::shared_ptr<const kernels::Target> target) {
  registerResidBuffersPasses();
  blocks::registerBlocksPasses();
  registerPass([target] { return createAllocateScratch(target); });
  PassPipelineRegistration<>("resid-bufferize", "tensors to memrefs; kernels write into the destinations themselves",
                             [target](OpPassManager &manager) { buildBufferizationPipeline(manager, target); });
}
