// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of micro-kernels: how much of a product a processor's registers hold. None of its numbers changes a bit.

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_MICROKERNELSHAPE_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_MICROKERNELSHAPE_H

#include "codegen/builder/Code.h"
#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/cpu/contractions/PanelMemory.h"

namespace mlir::resid::cpu {

/// A micro-kernel keeps the sums of `rows` rows and `panels` panels of 16 columns in registers.
struct MicroKernelShape {
  int64_t rows, panels;

  int64_t getColumns() const { return panels * kPanelColumns; }
  /// The heights that rows are worked on in: `rows`, then powers of two for what is left. Each of these is used once at
  /// most.
  SmallVector<int64_t> getHeights() const;

  using RowBody = function_ref<void(int64_t height, Value row)>;
  /// Cuts the rows [first, end) into those heights. `all`: how many rows there are, if that is known.
  void forRows(Code &code, Value first, Value end, kernels::Extent all, RowBody body) const;
  /// The same of fewer rows than the micro-kernel has.
  void forFewRows(Code &code, Value first, Value end, std::optional<int64_t> left, RowBody body) const;
  /// Calls `body` with the panels that a micro-kernel takes, or all that are `left` where those are fewer.
  void choosePanels(Code &code, Value left, function_ref<void(int64_t panels)> body) const;
};

/// The micro-kernel of products with any number of columns, or with so many.
MicroKernelShape chooseMicroKernelShape(const CPUTarget &target, Type arithmetic,
                                        std::optional<int64_t> columns = std::nullopt);

/// Tiles that keep a part of the factors in the caches; numbers of rows are multiples of the micro-kernel's.
struct ProductTiles {
  /// Rows that share a group of panels of b before the next group is read.
  int64_t rows;
  /// Contracted terms that are summed up before the next tile of them, and the rows whose sums wait meanwhile.
  int64_t terms, waitingRows;
};

ProductTiles chooseProductTiles(const CPUTarget &target, const MicroKernelShape &shape, int64_t arithmeticBytes,
                                int64_t elementBytes);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_MICROKERNELSHAPE_H
