// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop nests that reduce rows, such as sums that programs write: a thread has a row, whose elements it takes in order.
// Tiles of the rows go through shared memory, so that neighbouring threads read neighbours.

#ifndef RESID_CODEGEN_CUDA_POINTS_TILEDSUMS_H
#define RESID_CODEGEN_CUDA_POINTS_TILEDSUMS_H

#include "codegen/cuda/points/LoopNests.h"

namespace mlir::resid::cuda {

/// A nest with one loop beside those of its points.
struct TiledSum {
  /// Nothing where no input has its neighbours along that loop, or tiles would be nearly empty.
  static std::optional<TiledSum> find(linalg::GenericOp op);

  unsigned loop = 0;
  /// Positions among the op's operands of inputs that go through shared memory.
  SmallVector<unsigned> staged;
};

class TiledSumKernel : public DeviceKernel {
public:
  TiledSumKernel(LoopNest nest, TiledSum sum, kernels::KernelUse first, SymbolTable &symbols, int64_t &count)
      : DeviceKernel(std::move(first), symbols, count), nest(std::move(nest)), sum(std::move(sum)) {}

  void emit() override;
  LogicalResult launch(kernels::KernelUse &use) override;

private:
  LoopNest nest;
  TiledSum sum;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_POINTS_TILEDSUMS_H
