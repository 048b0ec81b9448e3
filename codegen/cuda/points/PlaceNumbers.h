// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars from elements of arrays before kernels are made: each is computed where it is needed, from elements that are
// still there or from copies. Not: how a kernel takes what stands before it (MoveLoads.h, kernels/SharedFunctions.h).

#ifndef RESID_CODEGEN_CUDA_POINTS_PLACENUMBERS_H
#define RESID_CODEGEN_CUDA_POINTS_PLACENUMBERS_H

#include "codegen/cuda/points/MoveLoads.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::resid::cuda {

class NumberCopies {
public:
  /// `number`, a scalar from memory, computed again before `place`.
  Value compute(Value number, Operation *place);
  /// The same for all scalars from memory that an op or its regions use.
  void computeAll(Operation *op);

private:
  /// A memref of rank 0 with what was loaded.
  Value keep(memref::LoadOp load);

  DenseMap<Operation *, Value> copies;
};

/// The scalars from memory that an op or its regions use.
SmallVector<Value> collectNumbers(Operation *op);

/// Slices at places that are numbers in memory, whose addresses the host does not know: their elements are moved to
/// arrays of their own before ops that read them, and back after those that write them. Those in loops that become one
/// kernel stay.
void moveSlices(ModuleOp module, NumberCopies &copies);

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_POINTS_PLACENUMBERS_H
