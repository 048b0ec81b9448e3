// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a block of threads computes a tile of a product's result: the table of tiles, and which of them a launch takes.
// Not: the code of a tile (TileEmitter.h).

#ifndef RESID_CODEGEN_CUDA_PRODUCTS_PRODUCTTILE_H
#define RESID_CODEGEN_CUDA_PRODUCTS_PRODUCTTILE_H

#include "codegen/builder/Code.h"
#include "codegen/contractions/ContractionLoops.h"

namespace mlir::resid::cuda {

struct ProductTile {
  /// Of the result; and how many terms of its sums lie in shared memory at a time.
  int64_t rows, columns, terms;
  /// Elements of a thread along the two: 8, 4 or 2 each; or one column. Those of matrix units are a warp's.
  int64_t threadRows, threadColumns;
  /// How many times so many terms are on their way from memory: in registers one, or an even number; or one less than
  /// there are stages in shared memory.
  int64_t ahead;
  /// What a thread may have at most; 0: the driver's compiler decides.
  int64_t registers;
  /// Warps have the elements, and matrix units add up terms: of 16 bits, with the roundings of the chip, or bytes.
  bool usesMatrixUnits = false;

  /// Of a block.
  static constexpr int64_t kThreads = 256;

  /// The tiles that launches of a product choose from, by takes(): the first that does, else the last. None where a sum
  /// has several loops or chains, or rows have scales: tiles do not know these. `relaxesProducts`: matrix units may add
  /// up products of floats.
  static SmallVector<ProductTile, 4> choose(const contraction::KernelLoops &loops, bool relaxesProducts);
  /// Elements of a thread that are neighbours along a loop.
  int64_t getGroup() const { return std::min<int64_t>(threadRows, 4); }
  /// Eight warps stand as two rows of four. Rows that a warp has at a time, side by side: where terms are added, and
  /// where sums are started or finished. Those of both rows of warps are a slice of the tile; a thin tile has none.
  int64_t getWarpRows() const { return usesMatrixUnits ? 16 : 8 * getGroup(); }
  int64_t getSliceRows() const { return 2 * getWarpRows(); }
  int64_t getSlices() const { return usesMatrixUnits ? rows / getSliceRows() : threadRows / getGroup(); }
  /// Whether a result of this size suits the tile (i1): few rows, or enough tiles for all processors of a device.
  Value takes(Code &code, const contraction::KernelLoops &loops) const;
  /// How many tiles the result has, of all batches (i64).
  Value count(Code &code, const contraction::KernelLoops &loops) const;

  /// Of few rows.
  bool isThin() const { return threadColumns == 1; }
  /// Elements of shared memory, of the arithmetic type: stages of terms, or a slice of sums in their place.
  int64_t countShared(Type arithmetic) const;

  /// Elements after each term in shared memory, so that threads which store neighbouring terms meet in fewer of its
  /// banks.
  static constexpr int64_t kPadding = 4;

  /// Of 64 numbers a thread. A result that is smaller than half of such a tile has none of them, so there are fewer
  /// than a grid may have blocks.
  bool isLarge() const { return rows == 128; }
  /// How many tiles a result has at least that takes this one.
  int64_t getFewest() const;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PRODUCTS_PRODUCTTILE_H
