// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vector path: phases as loops over explicit vectors, with the accumulators of the ordered sums as loop-carried
// values. The same bits as the scalar path (ScalarRows.h).

#ifndef RESID_CODEGEN_CPU_ROWS_VECTORROWS_H
#define RESID_CODEGEN_CPU_ROWS_VECTORROWS_H

#include "codegen/cpu/choice/StreamedRows.h"
#include "codegen/cpu/rows/LineWriter.h"
#include "codegen/cpu/rows/RareBranches.h"
#include "codegen/cpu/rows/RowEmitter.h"
#include "codegen/cpu/rows/VectorBody.h"

namespace mlir::resid::cpu {

class VectorRowEmitter : public RowEmitter {
public:
  /// With `stream`, rows are written past the cache as that says, and finish() has to be called behind the last one.
  /// With `prefetch`, what the row and the next one read is asked for ahead of its use. With `rare`, rare branches are
  /// calls of its functions, which are made where they are not there yet.
  VectorRowEmitter(OpBuilder &builder, Block *entry, const kernels::KernelAddresses &addresses,
                   const IRMapping &mapping, const CPUTarget &target, const StreamedRows *stream, bool prefetch,
                   RareFunctions *rare, bool isBatched = false);

  /// The rows [low, high) of a kernel that can be pipelined (findPipelineObstacle).
  void emitPipelinedRows(rows::KernelOp kernel, Value low, Value high);
  /// The rows [low, high), narrow ones in batches, if the emitter was made for that.
  void emitBatchedRows(rows::KernelOp kernel, Value low, Value high);
  /// Makes what was written past the cache visible to other threads.
  void finish(Location loc);

private:
  using Parts = VectorBody::Parts;
  /// One value per reduction and part of the lanes.
  using Accumulators = SmallVector<Value>;

  void emitPhase(rows::PhaseOp phase) override;
  void emitColumnOperation(Operation *op) override;
  void emitBranch(Block &block) override;
  func::FuncOp emitRareFunction(Block &block, RareBranch &branch, TypeRange arguments);

  SmallVector<Value> emitInTail(std::optional<bool> isThere, Value first, Value end, ValueRange otherwise,
                                function_ref<SmallVector<Value>()> body);
  void emitFusedRows(rows::KernelOp kernel, Value row);
  Value createPlaceholder(Value value);
  Accumulators emitSharedBlocks(rows::PhaseOp phase, VectorBody &body);
  void emitElementwise(VectorBody &body, Location loc);
  void emitReductions(rows::PhaseOp phase, VectorBody &body);
  Accumulators emitBlocks(rows::PhaseOp phase, VectorBody &body);
  void emitSweep(rows::PhaseOp phase, VectorBody &body, Value first, Value end, int64_t lane, Accumulators &totals);
  Accumulators emitTail(rows::PhaseOp phase, VectorBody &body, int64_t lane, Value column, Value end, ValueRange sums,
                        ValueRange drawn);
  Accumulators emitChunk(rows::PhaseOp phase, VectorBody &body, Value column, std::optional<PresentColumns> present,
                         ValueRange accumulators, ValueRange drawn);
  SmallVector<Value> drawNext(VectorBody &body, Value column, Value end, ValueRange drawn);
  Accumulators createNeutral(rows::PhaseOp phase, int64_t lanes, int64_t parts);

  void allocateScratch(Location loc);
  Value emitPaddedWidth(Location loc);
  Value computeBatchRows(Location loc);
  Value allocatePerRow(Location loc, Type element);
  void chooseScratch(Location loc, Value place);
  void clearTails(Location loc, Value first, Type element, Value columns);
  void clearTail(Location loc, Value row, Type element, Value columns);
  void copyUnaligned(rows::PhaseOp phase);
  /// Of the row whose pointers those are, wherever they stand when they are asked for.
  RowPlaces createPlaces(const RowPointers &pointers);
  RowSource getSource(rows::LoadOp load, const RowPointers &pointers) const;
  SmallVector<RowTarget> getTargets(rows::StoreOp store, const RowPointers &pointers);
  SmallVector<Prefetch> getPrefetches(rows::PhaseOp phase);
  SmallVector<Prefetch> getPrefetchesOfMasked(rows::PhaseOp phase);
  Value getBytesAheadOfNarrow();

  const CPUTarget &target;
  const StreamedRows *stream;
  bool prefetch;
  RareFunctions *rare;
  /// Whether (i1) all rows that are written past the cache begin at cache lines.
  Value aligned;
  /// The scratch rows of rows that are kept or staged.
  DenseMap<Value, Value> scratch;
  /// Those of the first row of a batch.
  DenseMap<Value, Value> firstScratch;
  /// How many rows (i64) are in a batch; null where rows are worked on one by one.
  Value batchRows;
  /// The width (i64) in whole chunks.
  Value paddedWidth;
  /// What writes rows where that is not so.
  llvm::MapVector<Value, LineWriter> writers;
  RowTail tail;
  Value bytesAheadOfNarrow;
  RowPlaces places;
  /// The last phase of the row before, which shares the loop of the phase that is emitted.
  VectorBody *behind = nullptr;
  /// Whether (i1) there is no row before.
  Value isFirstRow;
  DenseMap<Type, Value> buffers;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_VECTORROWS_H
