// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/Registration.h"

#include "codegen/arithmetic/Passes.h"
#include "codegen/attention/Passes.h"
#include "codegen/boundary/Passes.h"
#include "codegen/buffers/Passes.h"
#include "codegen/contractions/Passes.h"
#include "codegen/conversion/Passes.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/Target.h"
#include "codegen/cuda/Passes.h"
#include "codegen/linalg/Passes.h"
#include "codegen/rows/Passes.h"
#include "dialect/ResidDialect.h"
#include "passes/Passes.h"

using namespace mlir;

void resid::tools::registerDialects(DialectRegistry &registry) {
  registry.insert<ResidDialect, attention::AttentionDialect, contraction::ContractionDialect, rows::RowsDialect>();
  buffers::registerKernelBufferization(registry);
}

void resid::tools::registerPasses() {
  registerResidPasses();
  registerResidPipelines();
  registerRowKernelPasses();
  arithmetic::registerResidArithmeticPasses();
  buffers::registerBufferPassesAndPipelines(cpu::makeTarget({}));
  conversion::registerResidConversionPasses();
  cpu::registerCPUPassesAndPipelines();
  cuda::registerCUDAPasses();
  boundary::registerResidBoundaryPasses();
}
