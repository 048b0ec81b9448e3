// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products by tiles of the result: a block of threads brings the terms of a tile into shared memory, a few at a time,
// and each thread has the sums of some of its elements in registers. A sum is one chain in the order of its terms. Not:
// which tiles there are (ProductTile.h).

#ifndef RESID_CODEGEN_CUDA_PRODUCTS_TILEEMITTER_H
#define RESID_CODEGEN_CUDA_PRODUCTS_TILEEMITTER_H

#include "codegen/cuda/SharedArray.h"
#include "codegen/cuda/products/ProductElements.h"
#include "codegen/cuda/products/ProductTile.h"

namespace mlir::resid::cuda {

class TileEmitter {
public:
  TileEmitter(Code &code, kernels::KernelBody &body, contraction::KernelOp kernel, const ProductTile &tile);

  /// Everything that the block does: one tile after the other, as far apart as there are blocks.
  void emit();

private:
  using Sums = SmallVector<Value>;

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
  const contraction::Loop &getOther(const Factor &factor) const {
    return factor.operand == contraction::KernelLoops::kA ? loops.m : loops.n;
  }
  /// The tile's first row, of a, or column.
  Value getFirst(const Factor &factor) const {
    return factor.operand == contraction::KernelLoops::kA ? firstRow : firstColumn;
  }
  Value getOffset(const Factor &factor, Value first, int64_t number);
  Value countPlacesLeft(const Factor &factor);
  /// The elements that a thread brings, from term `first` on, and zeros where the tile reaches beyond rows, columns or,
  /// with `isRest`, terms.
  SmallVector<Value> bring(const Factor &factor, Value first, bool isRest);
  SmallVector<Value> bring(Value first, bool isRest);
  void keep(ArrayRef<Value> elements, Value stage);
  /// One term more, which lies at `term` of the stage.
  Sums addTerm(Value stage, Value term, ValueRange sums);
  /// `count` terms, which stand in the code `copies` times.
  Sums addTerms(Value stage, Value count, int64_t copies, ValueRange sums);

  /// What the thread of this number, and the tile, have.
  void findThread(Value number);
  void findTile(Value number);
  void findAnew();
  void emitTile(Value number);
  Sums emitStarts();
  Sums emitWholeStages(Value stages, Sums sums);
  Sums emitStages(Value end, Sums sums);
  Sums emitStagesAhead(Value stages, Value end, Sums sums);
  Sums emitRest(Value first, Value count, Sums sums);
  void finish(ArrayRef<Value> sums);

  /// Eight warps stand as two rows of four, and the threads of each as eight rows of four. Each has groups of
  /// neighbours.
  int64_t getWarpRows() const { return 8 * tile.getGroup(); }
  int64_t getWarpColumns() const { return 4 * tile.getGroup(); }
  /// Sums go through shared memory where elements are started or finished, so that neighbouring threads have
  /// neighbouring columns: a group of rows of each thread at a time, which are a slice of the tile.
  int64_t getSlices() const { return tile.threadRows / tile.getGroup(); }
  void forSlice(int64_t slice, function_ref<void(const ElementPlace &place, Value slot)> body);
  /// Where `count` sums are that a thread has in row `row` of a slice, from column `column` of its own on.
  Value getSliceSlot(int64_t row, int64_t column);

  /// Of an element of the tile.
  ElementPlace getPlace(Value row, Value column);
  /// Groups of elements.
  void loadVector(Value index, Sums &elements);
  void storeVector(ArrayRef<Value> elements, Value index);
  unsigned getVectorAlignment() const { return vectorSize * Type(loops.arithmetic).getIntOrFloatBitWidth() / 8; }
  void synchronise();

  ProductElements product;
  Code &code;
  const contraction::KernelLoops &loops;
  const ProductTile tile;
  const SharedArray shared;
  Factor a, b;
  /// Elements of a stage, of which there are two, and of a vector.
  int64_t stageSize, vectorSize;
  /// Of the block's threads, i64. The first row and column of a thread, in the tile; and its row in a slice.
  Value thread, threadRow, threadColumn, sliceRow;
  /// Of the tile, i64.
  SmallVector<Value> batch;
  Value firstRow, firstColumn;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PRODUCTS_TILEEMITTER_H
