// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an object holds for drivers: its resid_cuda_module (runtime/cuda/resid_cuda.h). Not: how PTX comes about.

#ifndef RESID_CODEGEN_CUDA_PTX_IMAGES_H
#define RESID_CODEGEN_CUDA_PTX_IMAGES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Module.h"
#include <string>

namespace mlir::resid::cuda {

/// The code of all kernels for one chip, and those that run its code.
struct Image {
  /// Text for this chip and later ones, or machine code for it and the later ones of its generation.
  enum Kind { PTX = 0, Cubin = 1 };
  unsigned chip;
  Kind kind;
  std::string contents;
};

/// Fills in the module that host code names; without such code there is nothing to do.
void addImages(llvm::Module &host, llvm::ArrayRef<Image> images, llvm::ArrayRef<std::string> kernels);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PTX_IMAGES_H
