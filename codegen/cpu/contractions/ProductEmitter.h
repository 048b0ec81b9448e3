// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the product of packed factors, and what is done to its elements, in blocks that stay in the caches.

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_PRODUCTEMITTER_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_PRODUCTEMITTER_H

#include "codegen/cpu/contractions/KernelView.h"
#include "codegen/cpu/contractions/MicroKernels.h"

namespace mlir::resid::cpu {

/// A cell is what one task computes at least: a block of rows times a group of panels, in one batch. Cells are numbered
/// by batch, block, group.
struct ProductCells {
  MicroKernelShape shape;
  ContractionBlocks blocks;

  static ProductCells choose(const CPUTarget &target, const contraction::KernelLoops &loops);
  Value countGroups(LoopCode &code, const contraction::PanelMemory &memory) const;
  Value countRowBlocks(LoopCode &code, const contraction::KernelLoops &loops) const;
};

class ProductEmitter {
public:
  ProductEmitter(KernelView &view, const ProductCells &cells, MicroKernels &microKernels, contraction::KernelOp kernel)
      : view(view), code(view.code), shape(cells.shape), blocks(cells.blocks), cells(cells), microKernels(microKernels),
        kernel(kernel) {}

  /// Emits the cells [low, high).
  void emit(Value low, Value high);

private:
  /// What one cell works on.
  struct Cell {
    SmallVector<Value> batch;
    /// Rows [firstRow, endRow) and, of the panels of b, so many from this one on.
    Value firstRow, endRow, firstPanel, panels;
    Value a, aStride, b;
  };

  Cell makeCell(Value unit, Value groups, Value rowBlocks);
  void emitCell(const Cell &cell);
  void emitTerms(const Cell &cell, Value first, Value end, Value term, Value terms);
  void emitMicroKernel(const Cell &cell, int64_t rows, Value row, Value firstWaiting, Value term, Value terms);
  void startRow(const Cell &cell, Value row, Value sums);
  void finishRow(const Cell &cell, Value row, Value sums);
  void forEachRow(Value first, Value end, function_ref<void(Value row, Value sums)> body);
  void forEachPanel(const Cell &cell, Value sums, function_ref<void(Value sums, ColumnRun run)> body);
  Value atRow(const Cell &cell, unsigned operand, Value row);
  Value emitBody(Value product, const Cell &cell, Value row, ColumnRun run);
  Value getSums(Value waitingRow);

  KernelView &view;
  LoopCode &code;
  MicroKernelShape shape;
  ContractionBlocks blocks;
  const ProductCells &cells;
  MicroKernels &microKernels;
  contraction::KernelOp kernel;
  /// Stack memory for the sums of rows that wait.
  Value waiting;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_PRODUCTEMITTER_H
