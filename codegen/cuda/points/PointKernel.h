// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with a thread for each point of loops whose points do not depend on each other. What belongs to one point,
// such as a sum, runs in its thread, in order. Not: what a point is, which the kinds of such kernels say.

#ifndef RESID_CODEGEN_CUDA_POINTS_POINTKERNEL_H
#define RESID_CODEGEN_CUDA_POINTS_POINTKERNEL_H

#include "codegen/cuda/DeviceKernel.h"

namespace mlir::resid::cuda {

/// Threads of a block.
constexpr int64_t kPointThreads = 128;

class PointKernel : public DeviceKernel {
public:
  using DeviceKernel::DeviceKernel;

  void emit() override;
  LogicalResult launch(kernels::KernelUse &use) override;

protected:
  /// How many points a kernel has (i64). Emits what computes it before the kernel.
  virtual Value countPoints(Code &code, kernels::KernelUse &use) = 0;
  /// Emits what is the same for all points, and gives what emits the one with this number (i64).
  using EmitPoint = std::function<void(Value point)>;
  virtual EmitPoint emitKernel(Code &code, kernels::KernelBody &body) = 0;
  /// What a thread may have at most; 0: the driver's compiler decides, which spills a few for more threads.
  virtual int64_t getMostRegisters() const { return 0; }
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_POINTS_POINTKERNEL_H
