// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scalar path: phases as loops over 64 lanes of scalar code, which LLVM vectorises. The second opinion beside the
// vector path, and what runs where that cannot take a kernel.

#ifndef RESID_CODEGEN_CPU_ROWS_SCALARROWS_H
#define RESID_CODEGEN_CPU_ROWS_SCALARROWS_H

#include "codegen/rows/RowEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::resid::cpu {

class ScalarRowEmitter : public rows::RowEmitter {
public:
  /// Takes stack memory for the local rows of the kernel, whose width is known where it has some.
  ScalarRowEmitter(Code &builder, Block *entry, rows::KernelOp kernel, const rows::KernelAddresses &addresses,
                   const IRMapping &mapping, unsigned vectorBits)
      : RowEmitter(builder, entry, addresses, mapping), vectorBits(vectorBits) {
    allocateLocalRows(kernel);
  }

private:
  void allocateLocalRows(rows::KernelOp kernel);
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

  void emitPhase(rows::PhaseOp phase) override;
  void emitColumnOperation(Operation *op) override;
  void emitRandomHalf(rows::RandomHalfOp half);
  Value columnOf(Value column);

  void emitElementwisePhase(rows::PhaseOp phase);
  void emitSpan(rows::PhaseOp phase, Value first);
  void emitFullChunks(rows::PhaseOp phase, Value first, Value end);
  void emitTail(rows::PhaseOp phase, Value first, Value end);
  void emitChunk(rows::PhaseOp phase, Value first, Value count,
                 function_ref<void(Value lane, ArrayRef<Value> values)> consume);
  /// A loop over `count` lanes without dependences between them, which LLVM vectorises `lanes` at a time (0:
  /// vectorLanes).
  void emitLanes(Operand count, function_ref<void(Value)> body, unsigned lanes = 0);
  /// Element `index` (i64) of the elements at `pointer`; no alignment is assumed. Inside emitLanes the access counts as
  /// independent of those of other lanes. In memory it has the type that kernels::getMemoryType says.
  Value loadElement(Type type, Value pointer, Value index);
  void storeElement(Value value, Value pointer, Value index);
  Value allocateLanes(Location loc, Type type);
  void prepareReductions(rows::PhaseOp phase);
  void prepareRandomHalves(rows::PhaseOp phase);
  void fillRandomHalves(Value first);
  Value reduceTotal(const Reduction &reduction);

  unsigned vectorBits;
  SmallVector<Reduction> reductions;
  SmallVector<Value> phaseBuffers;
  SmallVector<std::pair<rows::RandomHalfOp, Value>> randomHalves;
  std::optional<Position> position;
  /// How many lanes fit into a vector register, for the phase at hand.
  unsigned vectorLanes = 0;
  /// Of the loop over lanes at hand, whose accesses it says to be independent.
  LLVM::AccessGroupAttr group;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_SCALARROWS_H
