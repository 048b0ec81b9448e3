// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the passes from resid ops to row kernels.

#include "codegen/attention/Passes.h"
#include "codegen/contractions/Passes.h"
#include "codegen/linalg/Passes.h"
#include "codegen/rows/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void resid::buildRowKernelPipeline(OpPassManager &pm, const rows::FormKernelsOptions &options,
                                   const contraction::FormContractionsOptions &contractions) {
  pm.addPass(createResidToLinalg());
  // What users write around resid ops (activations, casts, scales) is row-wise too.
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addPass(createDecomposeSoftmax());
  pm.addPass(createAbsorbGroupReshapes());
  pm.addPass(createDropUnitColumns());
  // A size that is asked of an intermediate tensor would make that tensor a result of its kernel.
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(attention::createAbsorbHeadTransposes());
  pm.addPass(contraction::createFormContractions(contractions));
  // Where kernels read panels, nothing is left of what unpacks them.
  pm.addPass(createLowerPacks());
  pm.addPass(rows::createFormKernels(options));
  pm.addPass(createCarryLoopTensors());
  // No common subexpressions from here on: each result of a kernel starts from an empty tensor of its own.
  pm.addPass(createCanonicalizerPass());
}

void resid::registerRowKernelPasses() {
  registerResidToLinalgPasses();
  attention::registerAttentionPasses();
  contraction::registerContractionsPasses();
  rows::registerRowsPasses();
  PassPipelineRegistration<>("resid-row-kernels", "from resid ops to row kernels, on tensors",
                             [](OpPassManager &pm) { buildRowKernelPipeline(pm); });
}
