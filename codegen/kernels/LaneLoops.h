// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops on buffers whose steps may run side by side, in the lanes of vectors: which ones, and which of their values
// differ between lanes. Not: the code that has vectors in their place.

#ifndef RESID_CODEGEN_KERNELS_LANELOOPS_H
#define RESID_CODEGEN_KERNELS_LANELOOPS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::resid::kernels {

/// The fewest steps that run side by side.
constexpr int64_t kLeastLanes = 2;

/// A loop from 0 on whose steps are independent, take the same way, and run loops that carry floats. LLVM makes vectors
/// of innermost loops alone, and those that carry floats have an order to keep. The stack has room for what the least
/// number of steps keep to themselves.
class LaneLoop {
public:
  /// Nothing of other ops. `areArgumentsApart`: see isIndependent().
  static std::optional<LaneLoop> find(Operation *op, bool areArgumentsApart = false);

  scf::ForOp getLoop() const { return loop; }
  /// Whether each step has this value for itself.
  bool isVarying(Value value) const { return varying.contains(value); }
  /// Of the widest float.
  unsigned getFloatBits() const { return floatBits; }
  /// Operations on floats in one step, as far as it is known how often its loops run.
  int64_t countOperations() const { return operations; }
  /// What each step keeps to itself.
  ArrayRef<Operation *> getTemporaries() const { return temporaries; }
  bool isTemporary(Value buffer) const { return llvm::is_contained(temporaries, buffer.getDefiningOp()); }
  int64_t countTemporaryBytes() const;

private:
  explicit LaneLoop(scf::ForOp loop) : loop(loop) {}
  bool takeBlock(Block &block, int64_t times);
  bool takeOp(Operation *op, int64_t times);
  bool takeLoop(scf::ForOp inner, int64_t times);
  bool takeAccess(Value buffer, ValueRange indices);
  /// False where a lane cannot have it.
  bool vary(Value value);
  bool isUniform(Value value) { return value != loop.getInductionVar() && !isVarying(value); }

  scf::ForOp loop;
  llvm::DenseSet<Value> varying;
  SmallVector<Operation *> temporaries;
  unsigned floatBits = 0;
  int64_t operations = 0;
  bool carries = false;
};

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_LANELOOPS_H
