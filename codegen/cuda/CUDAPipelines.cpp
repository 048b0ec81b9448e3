// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which passes run in which order, from kernels to the NVVM dialect, and their registration.

#include "codegen/arithmetic/Passes.h"
#include "codegen/conversion/Passes.h"
#include "codegen/cuda/Passes.h"
#include "mlir/Conversion/Passes.h"

using namespace mlir;
using namespace mlir::resid;

/// Points compute places by affine ops of their own. Conversions from and to narrow floats stay: all chips have
/// instructions for them, which round to nearest even.
void cuda::buildDeviceLoweringPipeline(OpPassManager &manager) {
  manager.addPass(createLowerAffinePass());
  manager.addPass(arithmetic::createEmulateNarrowFloats());
  manager.addPass(arithmetic::createExpandMath());
  manager.addPass(arithmetic::createFoldAndShare());
  manager.addPass(arithmetic::createExpandDivisions());
  manager.addPass(conversion::createConvertToLLVM());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(conversion::createMoveLoopAnnotations());
  manager.addPass(cuda::createFinishDeviceModule());
}

void cuda::registerCUDAPasses() { registerResidCUDAPasses(); }
