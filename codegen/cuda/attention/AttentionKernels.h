// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of a GPU that attention is outlined into, one, or its backward, two, and their launches. Not: what they
// do.

#ifndef RESID_CODEGEN_CUDA_ATTENTION_ATTENTIONKERNELS_H
#define RESID_CODEGEN_CUDA_ATTENTION_ATTENTIONKERNELS_H

#include "codegen/attention/AttentionShape.h"
#include "codegen/cuda/DeviceKernel.h"
#include "codegen/kernels/Target.h"

namespace mlir::resid::cuda {

class AttentionKernel : public DeviceKernel {
public:
  /// `relaxesProducts`: as AttentionPlan::chooseForward has it.
  AttentionKernel(kernels::KernelUse first, SymbolTable &symbols, int64_t &count, bool relaxesProducts)
      : DeviceKernel(std::move(first), symbols, count), relaxesProducts(relaxesProducts) {}

  void emit() override;
  LogicalResult launch(kernels::KernelUse &use) override;

  /// Whether an op is a kernel of this kind.
  static bool isOne(Operation *op);
  /// Of a backward, the sum of weights times gradients of each query of each head.
  static FailureOr<kernels::ScratchShape> countScratch(OpBuilder &builder, Operation *kernel);
  /// What reports say of one on buffers. Emits what reads sizes at the builder's position.
  static kernels::PlanDecision describe(OpBuilder &builder, Operation *kernel, bool relaxesProducts);

private:
  const attention::AttentionShape &getShape() { return getFirst().as<attention::AttentionShape>(); }

  const bool relaxesProducts;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ATTENTION_ATTENTIONKERNELS_H
