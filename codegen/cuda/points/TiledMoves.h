// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop nests that read arrays along another loop than they write along, such as transposes: tiles of what they read go
// through shared memory, so that neighbouring threads read neighbours and write neighbours.

#ifndef RESID_CODEGEN_CUDA_POINTS_TILEDMOVES_H
#define RESID_CODEGEN_CUDA_POINTS_TILEDMOVES_H

#include "codegen/cuda/points/LoopNests.h"

namespace mlir::resid::cuda {

/// How a nest is cut into tiles of 32 x 32 points.
struct TiledMove {
  /// Nothing where no input has its neighbours along another loop, or tiles would be nearly empty.
  static std::optional<TiledMove> find(linalg::GenericOp op);

  /// The loops along which results, and inputs that go through shared memory, have their neighbours.
  unsigned written, read;
  /// Positions of those inputs among the op's operands.
  SmallVector<unsigned> staged;
};

class TiledMoveKernel : public DeviceKernel {
public:
  TiledMoveKernel(LoopNest nest, TiledMove move, kernels::KernelUse first, SymbolTable &symbols, int64_t &count)
      : DeviceKernel(std::move(first), symbols, count), nest(std::move(nest)), move(std::move(move)) {}

  void emit() override;
  LogicalResult launch(kernels::KernelUse &use) override;

private:
  LoopNest nest;
  TiledMove move;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_POINTS_TILEDMOVES_H
