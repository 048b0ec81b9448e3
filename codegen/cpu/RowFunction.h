// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a function over a range of rows, in scalar loops of 64 lanes. Not: its arguments and who calls it.

#ifndef RESID_CODEGEN_CPU_ROWFUNCTION_H
#define RESID_CODEGEN_CPU_ROWFUNCTION_H

#include "codegen/cpu/LaneLoops.h"
#include "codegen/cpu/RowAddressing.h"

namespace mlir::resid::cpu {

/// Emits the rows [low, high) (i64) of `kernel` at the builder's position. `addresses` and `mapping` (for values from
/// above the kernel) hold values that are visible there; stack memory is taken in `entry`.
class RowFunctionEmitter {
public:
  RowFunctionEmitter(OpBuilder &builder, Block *entry, const KernelAddresses &addresses, const IRMapping &mapping,
                     unsigned vectorBits)
      : builder(builder), entry(entry), addresses(addresses), mapping(mapping), vectorBits(vectorBits) {}

  void emitRows(rows::KernelOp kernel, Value low, Value high);

private:
  /// One reduction of the phase at hand: buffers of 64 elements each.
  struct Reduction {
    rows::ReductionKind kind;
    Type type;
    Value total, lanes, tail;
  };
  /// Where a column of the phase at hand is: the original argument, and column (i64) = first column of the chunk +
  /// lane.
  struct Position {
    Value argument, column, lane;
  };

  void computeRowPointers(rows::KernelOp kernel, Value row);
  void emitBlock(Block &block);
  void emitOperation(Operation *op);
  void emitWithRegions(Operation *op);
  void emitLoad(rows::LoadOp load);
  void emitStore(rows::StoreOp store);
  void emitRandomHalf(rows::RandomHalfOp half);
  Value columnOf(Value column);
  SmallVector<Value, 4> counterOf(rows::RandomHalfOp half, Value column);

  void emitPhase(rows::PhaseOp phase);
  void emitElementwisePhase(rows::PhaseOp phase);
  void emitColumnBlock(rows::PhaseOp phase, Value first);
  void emitFullChunks(rows::PhaseOp phase, Value first, Value end);
  void emitTail(rows::PhaseOp phase, Value first, Value end);
  void emitChunk(rows::PhaseOp phase, Value first, Value count,
                 function_ref<void(Value lane, ArrayRef<Value> values)> consume);
  Value allocateLanes(Location loc, Type type);
  void prepareReductions(rows::PhaseOp phase);
  void prepareRandomHalves(rows::PhaseOp phase);
  void fillRandomHalves(Value first);
  Value reduceTotal(const Reduction &reduction);
  Value combine(rows::ReductionKind kind, Value accumulator, Value value);

  OpBuilder &builder;
  Block *entry;
  const KernelAddresses &addresses;
  IRMapping mapping;
  unsigned vectorBits;
  DenseMap<Value, Value> rowPointers;
  SmallVector<Reduction> reductions;
  SmallVector<Value> phaseBuffers;
  SmallVector<std::pair<rows::RandomHalfOp, Value>> randomHalves;
  std::optional<Position> position;
  std::optional<LaneLoops> loops;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWFUNCTION_H
