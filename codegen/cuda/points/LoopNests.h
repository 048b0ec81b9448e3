// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg ops on buffers as kernels: a thread for each element of the results, which runs the other loops in order.

#ifndef RESID_CODEGEN_CUDA_POINTS_LOOPNESTS_H
#define RESID_CODEGEN_CUDA_POINTS_LOOPNESTS_H

#include "codegen/cuda/points/PointKernel.h"
#include "codegen/kernels/TakenValues.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::resid::cuda {

/// A linalg.generic on buffers, with what its kernel is given.
class LoopNest : public kernels::TakingOp {
public:
  /// Nothing where it takes what no kernel can be given.
  static std::optional<LoopNest> find(linalg::GenericOp op);

  /// The nest at the start of a function of the device, on its buffers.
  linalg::GenericOp rebuild(OpBuilder &builder, kernels::KernelBody &body) const;
  int64_t countArrays() const { return op->getNumOperands(); }

private:
  explicit LoopNest(linalg::GenericOp op) : TakingOp(op) {}

  void collectMoreFacts(SmallVectorImpl<Attribute> &facts) const override;

  /// Buffers that lie in constants of the program.
  llvm::SetVector<Value> constants;
};

class LoopNestKernel : public PointKernel {
public:
  LoopNestKernel(LoopNest nest, kernels::KernelUse first, SymbolTable &symbols, int64_t &count)
      : PointKernel(std::move(first), symbols, count), nest(std::move(nest)) {}

private:
  Value countPoints(Code &code, kernels::KernelUse &use) override;
  EmitPoint emitKernel(Code &code, kernels::KernelBody &body) override;
  int64_t getMostRegisters() const override;

  LoopNest nest;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_POINTS_LOOPNESTS_H
