// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the product of packed factors, and what is done to its elements, in tiles that stay in the caches.

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_PRODUCTEMITTER_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_PRODUCTEMITTER_H

#include "codegen/cpu/contractions/KernelView.h"
#include "codegen/cpu/contractions/MicroKernels.h"

namespace mlir::resid::cpu {

/// A cell is what one task computes at least: a tile of rows times a group of panels, in one batch. Cells are numbered
/// by batch, tile, group.
struct ProductCells {
  MicroKernelShape shape;
  ProductTiles tiles;
  /// Panels of a cell: those of a micro-kernel, or some groups of them.
  int64_t panels;
  /// Whether a cell packs its parts of b itself, on the stack.
  bool packsParts = false;
  /// Where micro-kernels read the integers that b is computed from: those.
  IntegerForm integers;

  static ProductCells choose(const CPUTarget &target, const contraction::KernelLoops &loops);
  /// For few rows of a b that is not in panels, or that is computed from integers.
  static ProductCells chooseForFewRows(const CPUTarget &target, const contraction::KernelLoops &loops);
  int64_t getColumns() const { return panels * kPanelColumns; }
  bool readsIntegers() const { return integers.group != 0; }
  Value countGroups(Code &code, const PanelMemory &memory) const;
};

class ProductEmitter {
public:
  ProductEmitter(KernelView &view, const ProductCells &cells, MicroKernels &microKernels, contraction::KernelOp kernel)
      : view(view), code(view.code), shape(cells.shape), tiles(cells.tiles), cells(cells), microKernels(microKernels),
        kernel(kernel) {}

  /// Emits the cells [low, high), whose tiles have `blockRows` rows. The first tile of a batch begins at `firstRow`.
  void emit(Value firstRow, Value blockRows, Value low, Value high);

private:
  /// What one cell works on.
  struct Cell {
    SmallVector<Value> batch;
    /// Rows [firstRow, endRow) and, of the panels of b, so many from this one on.
    Value firstRow, endRow, firstPanel, panels;
    Value a, aStride, b;
  };

  Cell makeCell(Value unit, Value groups, Value firstRow, Value blockRows, Value rowBlocks);
  void emitCell(const Cell &cell);
  /// A run of contracted terms, and a group of panels for each of them.
  struct TermTile {
    Value first, terms;
    Value b, panelStride;
    /// Of the cell's panels, the first one and how many.
    Value firstPanel, panels;
  };

  void emitChains(const Cell &cell, Value first, Value end);
  /// How many chains of a row alone run at a time; 1 where no row is alone.
  int64_t countChainsAtOnce() const;
  /// As many chains of a row as come in whole groups; returns the first term that is left.
  Value emitChainsAtOnce(const Cell &cell, Value row, int64_t count);
  void addChain(const Cell &cell, Value chain, Value row, Value isFirst);
  /// All panels of a cell, of so many terms.
  TermTile makeTile(const Cell &cell, Value first, Value terms);
  void emitTermTiles(const Cell &cell, Value first, Value end, Value firstTerm, Value endTerm);
  /// Calls `body` for as many panels at a time as a micro-kernel takes; the last group may have fewer than the others.
  void forEachGroup(const Cell &cell, const TermTile &tile, function_ref<void(const TermTile &)> body);
  void packPart(const Cell &cell, TermTile &tile);
  void emitRows(const Cell &cell, Value first, Value end, const TermTile &tile);
  void emitMicroKernels(const Cell &cell, int64_t rows, Value row, Value firstWaiting, const TermTile &tile);
  MicroKernels::Form getForm(int64_t rows) const;
  void emitMicroKernel(const Cell &cell, MicroKernels::Form form, const MicroKernels::Operands &operands,
                       const TermTile &group);
  void emitColumns(const Cell &cell, const TermTile &group, int64_t panels, function_ref<void(int64_t columns)> call);
  /// Scaled rows do not compete for the same places of a cache.
  int64_t getScaledLength() const { return tiles.terms + kPanelColumns; }
  std::pair<Value, Value> getRowsOfA(const Cell &cell, int64_t rows, Value row, const TermTile &tile);
  void startRow(const Cell &cell, Value row, Value sums);
  void startSums(Value sums);
  void fetchRow(const Cell &cell, Value row, Value sums);
  void finishRow(const Cell &cell, Value row, Value sums);
  void forEachRow(Value first, Value end, function_ref<void(Value row, Value sums)> body);
  void forEachPanel(const Cell &cell, Value sums, function_ref<void(Value sums, ColumnRun run)> body);
  Value atRow(const Cell &cell, unsigned operand, Value row);
  Value getExcess(const Cell &cell, Value row);
  Value emitBody(Value product, const Cell &cell, Value row, ColumnRun run);
  Value getSums(Value waitingRow);
  /// Where the sum of the chains before this one stands, from where the chain's own stands.
  Value getTotal(Value sum) { return code.at(sum, view.loops.arithmetic, waitingRows * cells.getColumns()); }

  KernelView &view;
  Code &code;
  MicroKernelShape shape;
  ProductTiles tiles;
  const ProductCells &cells;
  MicroKernels &microKernels;
  contraction::KernelOp kernel;
  /// Stack memory for the sums of rows that wait, and with chains for their totals; for a part of b; and for rows of a
  /// that are scaled.
  Value waiting, part, scaledRows;
  /// One tile has all terms, and its micro-kernels begin at 0. Nothing is stored between the elements of the rows
  /// before and the first terms then, which need not wait for the memory of these elements.
  bool startsInRegisters = false;
  int64_t waitingRows = 0;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_PRODUCTEMITTER_H
