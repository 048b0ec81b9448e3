// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emitter of rows that stay in registers: code is unrolled, each element is loaded once, and later phases find it
// where it is. Not: which kernels suit (RegisterPlan.h), sums over a row's threads (LaneSums.h).

#ifndef RESID_CODEGEN_CUDA_ROWS_REGISTERROWS_H
#define RESID_CODEGEN_CUDA_ROWS_REGISTERROWS_H

#include "codegen/arithmetic/Philox.h"
#include "codegen/cuda/rows/LaneSums.h"
#include "codegen/rows/RowEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::resid::cuda {

/// Whether a thread has columns in a chunk of its span (i1).
Value hasColumns(Code &builder, const RegisterPlan &plan, const RowThread &thread, int64_t chunk);

class RegisterRowEmitter : public rows::RowEmitter {
public:
  RegisterRowEmitter(Code &builder, Block *entry, const rows::KernelAddresses &addresses, const IRMapping &mapping,
                     const RegisterPlan &plan, RowThread &thread, LaneSums &sums)
      : RowEmitter(builder, entry, addresses, mapping, kernels::Alignment::Element), plan(plan), thread(thread),
        sums(sums) {}

  /// One value per column of the thread, chunk by chunk, as it is in memory.
  using Columns = SmallVector<Value>;

  /// All of row `row` (i64).
  void emitRow(rows::KernelOp kernel, Value row);
  /// Brings what row `row` (i64) reads of its own elements into the cache of the chip.
  void prefetchRow(rows::KernelOp kernel, Value row);

  /// What a sum down the rows is so far, by the kernel's argument. A row adds its terms to it.
  Columns &getTerms(Value row) { return terms[row]; }

private:
  void emitPhase(rows::PhaseOp phase) override;
  void emitColumnOperation(Operation *op) override;
  void emitRowStore(rows::StoreOp store) override;
  void emitBranch(Block &block) override;

  void emitWholePhase(rows::PhaseOp phase);
  /// Sets `firsts`, with `column` (i64) for the thread's first column.
  void findFirsts(Value column, bool ofOwnRowsAlone);
  Value emitIsRare(ArrayRef<std::pair<OpResult, Value>> constants);
  void expectOtherBranch(Block &block);
  /// Makes LLVM forget what was computed from kept rows before.
  void hideKeptRows();
  /// The thread's columns of all chunks. `isInvariant`: as for loadChunk.
  Columns loadRow(rows::LoadOp load, bool isInvariant);
  void loadLateRows(rows::PhaseOp phase);
  void loadKeptRows(rows::PhaseOp phase);
  /// Whether the elements of a load are in registers for some chunks of its phase only.
  bool isPassing(rows::LoadOp load);
  void loadPassingRows(rows::PhaseOp phase);
  /// The thread's columns of a chunk. `isInvariant`: nobody stores to the row while the kernel runs.
  Columns loadChunk(rows::LoadOp load, int64_t chunk, bool isInvariant);
  Columns loadWords(Value address, Type memory, bool isInvariant);
  Columns loadMovedChunk(rows::LoadOp load, AffineExpr move, int64_t chunk, bool isInvariant);
  void forEachLane(function_ref<void()> emit);
  static bool hasPairedForm(arith::TruncFOp truncation);
  void roundPairs(arith::TruncFOp truncation);
  Value takePart(Value word, int64_t part, Type element);
  void emitChunk(rows::PhaseOp phase, SmallVectorImpl<LaneSums::Lanes> &lanes);
  void storeChunk(rows::PhaseOp phase);
  Value getRandomHalf(rows::RandomHalfOp half);
  void shareRandomWords(rows::RandomHalfOp half);
  /// The four words of the generator for the columns around one (i64).
  SmallVector<Value, 4> emitCall(rows::RandomHalfOp half, Value ofColumn);
  Value chooseByNeighbour(function_ref<Value(int64_t)> choose);
  /// Takes from registers what dropout decided in an earlier phase; whether it did, so that nothing is left of an
  /// operation that draws or compares.
  bool takeDecision(Operation *op);
  /// Keeps what a comparison has just decided, where a later phase decides the same.
  void keepDecision(Operation *op);
  /// Threads whose columns of a chunk belong to one call of the generator.
  int64_t getNeighbours() const { return arithmetic::kColumnsPerCounter / plan.lanes; }

  /// Whether threads may have no columns in a chunk; and whether this one has (i1).
  bool isPartial(int64_t chunk) const { return chunk >= plan.getFullChunks(); }
  Value isPresent(int64_t chunk) { return hasColumns(builder, plan, thread, chunk); }
  /// Emits what a thread does that has columns in a chunk.
  void wherePresent(int64_t chunk, function_ref<void()> emit);
  /// Where the thread's columns of a chunk are, in elements after its first ones (i64). A thread without columns there
  /// takes its own of chunk 0, which no other thread touches.
  Value getOffset(int64_t chunk);
  Value getAddress(Value row, Type element, int64_t chunk);
  size_t getPlace() const { return size_t(chunk * plan.lanes + lane); }

  /// The threads of the warp that run what is emitted together (i32), or nothing for all of them. ptxas makes a second
  /// way for threads that come apart where a mask is known at run time only. A warp does not wait for threads without a
  /// row: those have exited.
  Value getMask() const { return isApart ? thread.mask : Value(); }

  const RegisterPlan &plan;
  RowThread &thread;
  LaneSums &sums;
  rows::KernelOp kernel;
  /// The number of the row at hand (i64).
  Value row;
  /// The pointers of rows at the thread's first column.
  DenseMap<Value, Value> firsts;
  /// What is in registers, by the row.
  DenseMap<Value, Columns> kept;
  /// What the phase at hand has loaded so far of rows that are not kept, by the row.
  DenseMap<Value, Columns> passing;
  /// Sums down the rows, by the kernel's argument.
  DenseMap<Value, Columns> terms;
  /// The words of random numbers, for chunks of the phase at hand.
  DenseMap<std::pair<Operation *, int64_t>, SmallVector<Value, 4>> random;
  /// Which of the thread's columns dropout keeps: a bit (of i32) for each, by the phase that drew first. A draw costs
  /// far more than a bit.
  struct Decision {
    rows::RandomHalfOp half;
    SmallVector<Value> bits;
  };
  SmallVector<Decision> decisions;
  /// What the operations of the phase have become, and the columns (i64), by the lane.
  SmallVector<IRMapping> mappings;
  SmallVector<Value> columns;
  /// The column at hand (i64), and its place.
  Value column;
  int64_t chunk = 0, lane = 0;
  /// Whether the rows of a warp may be at different places: in branches, and where units of rows have loops.
  bool isApart = false;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_ROWS_REGISTERROWS_H
