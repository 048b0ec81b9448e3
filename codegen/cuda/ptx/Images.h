// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an object holds for drivers: its resid_cuda_module (runtime/cuda/resid_cuda.h). Not: how PTX comes about.

#ifndef RESID_CODEGEN_CUDA_PTX_IMAGES_H
#define RESID_CODEGEN_CUDA_PTX_IMAGES_H

#include "codegen/kernels/Target.h"

namespace mlir::resid::cuda {

/// The code of all kernels for one chip, and those that run its code.
struct Image {
  /// Text for this chip and later ones, or machine code for it and the later ones of its generation.
  enum Kind { PTX = 0, Cubin = 1 };
  unsigned chip;
  Kind kind;
  std::string contents;
};

class Images : public kernels::DeviceCode {
public:
  /// One image per chip, or two where there is machine code; `kernels` has the names.
  Images(std::vector<Image> images, std::vector<std::string> kernels)
      : images(std::move(images)), kernels(std::move(kernels)) {}

  StringRef getText() const override { return images.front().contents; }
  /// Fills in the module that host code names; without such code there is nothing to do.
  void addTo(llvm::Module &host) const override;

private:
  std::vector<Image> images;
  std::vector<std::string> kernels;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PTX_IMAGES_H
