// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions as kernels with a thread for each element of the result: the slow form that takes every one.

#ifndef RESID_CODEGEN_CUDA_POINTS_PRODUCTS_H
#define RESID_CODEGEN_CUDA_POINTS_PRODUCTS_H

#include "codegen/contractions/ContractionLoops.h"
#include "codegen/cuda/points/PointKernel.h"

namespace mlir::resid::cuda {

class ProductKernel : public PointKernel {
public:
  using PointKernel::PointKernel;

private:
  Value countPoints(Code &code, kernels::KernelUse &use) override;
  EmitPoint emitKernel(Code &code, kernels::KernelBody &body) override;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_POINTS_PRODUCTS_H
