// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-opt: runs single passes and pipelines on a file, with everything that users of mlir-opt know.

#include "codegen/cpu/Passes.h"
#include "codegen/linalg/Passes.h"
#include "codegen/rows/Passes.h"
#include "dialect/ResidDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::resid::registerResidPasses();
  mlir::resid::registerResidPipelines();
  mlir::resid::registerRowKernelPasses();
  mlir::resid::cpu::registerCPUPassesAndPipelines();
  registry.insert<mlir::resid::ResidDialect, mlir::resid::rows::RowsDialect>();
  mlir::resid::rows::registerRowsBufferization(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "resid optimizer driver\n", registry));
}
