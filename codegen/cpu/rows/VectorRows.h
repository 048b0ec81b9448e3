// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vector path: runs the phases of a row on explicit vectors. The same bits as the scalar path (ScalarRows.h). Not:
// in which order rows are run (RowOrders.h), where they lie (RowMemory.h), the loops of a phase (ColumnLoops.h).

#ifndef RESID_CODEGEN_CPU_ROWS_VECTORROWS_H
#define RESID_CODEGEN_CPU_ROWS_VECTORROWS_H

#include "codegen/cpu/rows/ColumnLoops.h"
#include "codegen/cpu/rows/RowMemory.h"
#include "codegen/cpu/rows/VectorPrefetches.h"
#include "codegen/rows/RowEmitter.h"

namespace mlir::resid::cpu {

class VectorRowEmitter : public rows::RowEmitter {
public:
  VectorRowEmitter(VectorFunction &function, const IRMapping &mapping, RowMemory &memory, VectorPrefetches &prefetches)
      : RowEmitter(function.builder, function.entry, function.addresses, mapping), function(function), memory(memory),
        prefetches(prefetches), places(createPlaces(state.pointers)) {}

  /// Runs `phase`, which has sums, of the row at hand in one loop with `before`, a phase without sums of the row
  /// before. Where `isFirst` (i1) says that there is no row before, `phase` runs by itself.
  void emitTogether(VectorBody &before, rows::PhaseOp phase, Value isFirst);

  /// Where the rows lie whose pointers those are, wherever they stand when they are asked for.
  RowPlaces createPlaces(const RowPointers &pointers);
  RowMemory &getMemory() const { return memory; }
  VectorFunction &getFunction() const { return function; }

protected:
  void emitPhase(rows::PhaseOp phase) override;
  void emitColumnOperation(Operation *op) override;

  VectorFunction &function;
  RowMemory &memory;

private:
  void reduce(rows::PhaseOp phase, VectorBody &body, ArrayRef<Value> totals);

  VectorPrefetches &prefetches;
  RowPlaces places;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_VECTORROWS_H
