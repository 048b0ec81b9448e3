// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a program that a GPU runs, as a module of its own. Not: what lowers it (Passes.h) or writes it (ptx/).

#ifndef RESID_CODEGEN_CUDA_DEVICEMODULE_H
#define RESID_CODEGEN_CUDA_DEVICEMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::resid::cuda {

struct DeviceModule {
  OwningOpRef<ModuleOp> module;
  /// The names that the kernels have in PTX, by their numbers.
  std::vector<std::string> kernels;
};

/// Takes the kernels that LowerKernels marked out of `module`.
DeviceModule takeDeviceModule(ModuleOp module);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_DEVICEMODULE_H
