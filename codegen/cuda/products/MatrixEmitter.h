// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of 16-bit floats and of bytes on matrix units, by tiles of the result: copies to shared memory that need no
// registers, and `mma.sync` of 16 rows and 8 columns by warps. The chip says in which order terms of floats are added
// and how they are rounded, so these are for --relax-rounding=products alone; sums of integers are exact. Not: which
// tiles there are (ProductTile.h).

#ifndef RESID_CODEGEN_CUDA_PRODUCTS_MATRIXEMITTER_H
#define RESID_CODEGEN_CUDA_PRODUCTS_MATRIXEMITTER_H

#include "codegen/cuda/products/TileBlock.h"

namespace mlir::resid::cuda {

class MatrixEmitter : public TileBlock {
public:
  MatrixEmitter(Code &code, kernels::KernelBody &body, contraction::KernelOp kernel, const ProductTile &tile);

private:
  /// A factor in memory and in a stage of shared memory. Lines of neighbours go from the one to the other: along the
  /// terms or, where those are far apart, along the rows of a, or the columns of b. Those of bytes always lie along the
  /// terms in shared memory, since loads of matrices transpose elements of 16 bits alone.
  struct Factor {
    unsigned operand;
    /// Of the tile, along the other loop; where the factor begins in a stage; and how long its lines are there.
    int64_t size, begin, line;
    bool isAlongTerms;
    /// Whether 16 bytes can be copied at a time (i1); null: they never can.
    Value isAligned;
  };
  using Fragment = SmallVector<Value>;

  void emitTile(Value number) override;

  Factor makeFactor(unsigned operand, int64_t size, int64_t begin);
  Value findAlignment(const Factor &factor);
  /// Where piece `piece` of line `line` is in a stage, counted in elements. A piece has 16 bytes. Pieces of
  /// neighbouring lines change places, so that eight rows of a matrix lie in different banks.
  Value getSlot(const Factor &factor, Value stage, Value line, Value piece);
  /// Brings the terms from `first` on into a stage, and zeros where there are none.
  void bring(const Factor &factor, Value first, Value stage);
  void bringElements(const Factor &factor, const ElementPlace &place, Value term, Value count, Value slot);

  /// Two or four matrices, as mma.sync has those of 16 rows from `first` on, or of 16 columns, and of the terms of
  /// instruction `number`.
  Fragment loadFragment(const Factor &factor, Value stage, Value first, int64_t number);
  Sums multiply(Value stage, Sums sums);

  /// For each pair of neighbouring sums of a thread in a slice: where they are in shared memory.
  void forPairs(function_ref<void(Value address)> body);
  Value at(Value slot) { return code.at(shared.getStart(code), element, slot); }

  /// Of a warp.
  int64_t getRows() const { return tile.rows / 2; }
  int64_t getColumns() const { return tile.columns / 4; }
  int64_t countStages() const { return tile.ahead + 1; }

  Type element;
  /// Elements of 16 bytes, which are copied and loaded together.
  int64_t piece;
  Factor a, b;
  int64_t stageSize;
  /// Of the thread in its warp, and the warp's first row and column in the tile; i64.
  Value lane, warpRow, warpColumn;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PRODUCTS_MATRIXEMITTER_H
