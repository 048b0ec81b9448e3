// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of threads that computes tiles of a product's result: where a tile is, what its sums begin with, and what is
// done to its elements. Not: how terms are added up (TileEmitter.h, MatrixEmitter.h).

#ifndef RESID_CODEGEN_CUDA_PRODUCTS_TILEBLOCK_H
#define RESID_CODEGEN_CUDA_PRODUCTS_TILEBLOCK_H

#include "codegen/cuda/SharedArray.h"
#include "codegen/cuda/products/ProductElements.h"
#include "codegen/cuda/products/ProductTile.h"

namespace mlir::resid::cuda {

class TileBlock {
public:
  virtual ~TileBlock() = default;

  /// Everything that the block does: one tile after the other, as far apart as there are blocks.
  void emit();

protected:
  using Sums = SmallVector<Value>;

  TileBlock(Code &code, kernels::KernelBody &body, contraction::KernelOp kernel, const ProductTile &tile);

  virtual void emitTile(Value number) = 0;

  /// Sets the first row, the first column and the batch of tile `number` (i64). `isAgain`: from the sizes that a kernel
  /// is given, so that nothing of it stays in registers from an earlier call on.
  void findTile(Value number, bool isAgain = false);
  const contraction::Loop &getOther(unsigned factor) const {
    return factor == contraction::KernelLoops::kA ? loops.m : loops.n;
  }
  /// The tile's first row, for the factor a, or column.
  Value getFirst(unsigned factor) const { return factor == contraction::KernelLoops::kA ? firstRow : firstColumn; }
  /// Of an element of the tile.
  ElementPlace getPlace(Value row, Value column);

  /// Sums go through shared memory where elements are started or finished, so that neighbouring threads have
  /// neighbouring columns: a slice of the tile at a time. A slice has rows of this many elements there.
  int64_t getSlicePitch() const { return tile.columns + ProductTile::kPadding; }
  /// What the thread's `count` sums begin with. `takeOwn` adds those of a slice that is in shared memory.
  Sums emitStarts(int64_t count, function_ref<void(Sums &sums)> takeOwn);
  /// Finishes all elements. `leaveOwn` stores the thread's sums of a slice into shared memory.
  void finishSlices(function_ref<void(int64_t slice)> leaveOwn);
  void synchronise();

  ProductElements product;
  Code &code;
  const contraction::KernelLoops &loops;
  const ProductTile tile;
  const SharedArray shared;
  /// Of the block's threads, i64.
  Value thread;
  /// Of the tile, i64.
  SmallVector<Value> batch;
  Value firstRow, firstColumn;

private:
  void forSlice(int64_t slice, function_ref<void(const ElementPlace &place, Value address)> body);
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PRODUCTS_TILEBLOCK_H
