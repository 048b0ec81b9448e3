// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products by tiles of the result: a block of threads brings the terms of a tile into shared memory, a few at a time,
// and each thread has the sums of some of its elements in registers. A sum is one chain in the order of its terms. Not:
// which tiles there are (ProductTile.h).

#ifndef RESID_CODEGEN_CUDA_PRODUCTS_TILEEMITTER_H
#define RESID_CODEGEN_CUDA_PRODUCTS_TILEEMITTER_H

#include "codegen/cuda/products/TileBlock.h"

namespace mlir::resid::cuda {

class TileEmitter : public TileBlock {
public:
  TileEmitter(Code &code, kernels::KernelBody &body, contraction::KernelOp kernel, const ProductTile &tile);

private:
  void emitTile(Value number) override;

  /// A factor in memory and in shared memory. Neighbouring threads bring neighbours along the terms or, where those are
  /// far apart, along the other loop: its rows, of a, or its columns.
  struct Factor {
    unsigned operand;
    /// Of the tile, along the other loop; and the distance of terms in shared memory, and where they begin there.
    int64_t size, pitch, begin;
    bool isAlongTerms;
    /// Elements that a thread brings, and how far apart they are.
    int64_t count, step;
    /// The first of them, in the tile.
    Value place, term;
  };

  Factor makeFactor(unsigned operand, int64_t size, int64_t begin);
  void placeFactor(Factor &factor);
  /// Threads that bring neighbours.
  int64_t getNeighbours(const Factor &factor) const { return factor.isAlongTerms ? tile.terms : factor.size; }
  /// Element `number` of those that a thread brings: its place and its term.
  std::pair<Value, Value> getElement(const Factor &factor, int64_t number);
  /// Where the element is in shared memory, in a stage that begins at `stage`.
  Value getSlot(const Factor &factor, int64_t number, Value stage);
  Value getOffset(const Factor &factor, Value first, int64_t number);
  Value countPlacesLeft(const Factor &factor);
  /// The elements that a thread brings, from term `first` on, and zeros where the tile reaches beyond rows, columns or,
  /// with `isRest`, terms.
  SmallVector<Value> bring(const Factor &factor, Value first, bool isRest);
  SmallVector<Value> bring(Value first, bool isRest);
  void keep(ArrayRef<Value> elements, Value stage);
  /// Whether sums are added up as pairs of f32 of neighbouring columns: from sm_100 on, one instruction adds two
  /// products, each with a rounding of its own. Other chips have two instructions.
  bool hasPairs() const { return loops.arithmetic.isF32() && tile.threadColumns % 2 == 0; }
  Sums pack(ArrayRef<Value> numbers);
  Sums unpack(ArrayRef<Value> pairs);
  /// One term more, which lies at `term` of the stage.
  Sums addTerm(Value stage, Value term, ValueRange sums);
  /// `count` terms, which stand in the code `copies` times.
  Sums addTerms(Value stage, Value count, int64_t copies, ValueRange sums);

  /// What the thread of this number, and the tile, have.
  void findThread(Value number);
  void findAnew();
  Value countTermsAnew();
  Value findLastStage();
  Sums emitOwnStarts();
  Sums emitWholeStages(Value stages, Sums sums);
  Sums emitStages(Value end, Sums sums);
  Sums emitStagesAhead(Value stages, Value end, Sums sums);
  Sums emitRest(Value first, Value count, Sums sums);
  void finish(ArrayRef<Value> sums);

  /// Eight warps stand as two rows of four, and the threads of each as eight rows of four. Each has groups of
  /// neighbours.
  int64_t getWarpColumns() const { return 4 * tile.getGroup(); }
  /// For each group of sums of a thread in a slice, of neighbouring columns: where they are in shared memory.
  void forGroups(function_ref<void(Value slot)> body);

  /// Groups of elements.
  void loadVector(Value index, Sums &elements);
  void storeVector(ArrayRef<Value> elements, Value index);
  unsigned getVectorAlignment() const { return vectorSize * Type(loops.arithmetic).getIntOrFloatBitWidth() / 8; }

  Factor a, b;
  /// Elements of a stage, of which there are two, and of a vector.
  int64_t stageSize, vectorSize;
  /// The first row and column of a thread, in the tile; and its row in a slice. i64.
  Value threadRow, threadColumn, sliceRow;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PRODUCTS_TILEEMITTER_H
