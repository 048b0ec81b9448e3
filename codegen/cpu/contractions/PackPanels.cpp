// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits loops that pack b in panels. What is contiguous moves in vectors; a matrix whose terms are contiguous is
// transposed 16 by 16 in registers.

#include "codegen/cpu/contractions/PackFactors.h"

#include "codegen/cpu/contractions/IntegerWeights.h"
#include "codegen/cpu/contractions/TransposeTile.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::contraction;

Value cpu::getPackedPanels(KernelView &view) {
  return view.code.at(view.loops.scratch, view.code.getI8Type(), view.memory.aBytes.value);
}

namespace {

/// Packs one panel.
class PanelPacker {
public:
  /// Of the terms, `all` from `source` on.
  PanelPacker(KernelView &view, Value source, Value target, Value count, Value all, int64_t termsAhead)
      : view(view), code(view.code), source(source), target(target), count(count), all(all), termsAhead(termsAhead),
        element(view.loops.operands[kB].elementType), moved(getMovedType(element)),
        terms(getInterleavedTerms(element)) {}

  void pack() {
    bool isTransposed = view.loops.contracted.size() == 1 && view.loops.contracted.front().strides[kB].is(1);
    isTransposed ? packColumns() : packElements(code.constant(0));
  }
  /// The columns of a term, or of as many as are interleaved, if they are contiguous. Terms that are not there repeat
  /// the last one.
  void packRow(Value term);

private:
  void packColumns();
  void packElements(Value firstTerm);
  Value loadRow(Value term);
  Value interleave(ArrayRef<Value> rows);
  /// Where the element of a term and a column lies in the panel, in elements.
  Value getPlace(Value term, Value column);

  KernelView &view;
  Code &code;
  Value source, target, count, all;
  int64_t termsAhead;
  Type element, moved;
  int64_t terms;
};

} // namespace

Value PanelPacker::getPlace(Value term, Value column) {
  if (terms == 1)
    return code.add(code.multiply(term, kPanelColumns), column);
  Value count = code.constant(terms), group = code.multiply(code.divide(term, count), terms * kPanelColumns);
  return code.add(group, code.add(code.multiply(column, count), code.remainder(term, count)));
}

/// One element after the other, for the terms from `firstTerm` on.
void PanelPacker::packElements(Value firstTerm) {
  auto copy = [&](Value offset, Value term) {
    code.loop(0, count, 1, [&](Value column) {
      Value from = code.add(offset, code.multiply(column, view.loops.n.strides[kB].value));
      code.store(code.load(moved, code.at(source, moved, from)), code.at(target, moved, getPlace(term, column)));
    });
  };
  if (view.loops.contracted.size() > 1)
    return view.forEachTerm(kB, /*isInnermost=*/false, copy);
  const contraction::Loop &loop = view.loops.contracted.front();
  code.loop(firstTerm, all, 1, [&](Value term) { copy(code.multiply(term, loop.strides[kB].value), term); });
}

/// The columns of one term, where they are contiguous.
Value PanelPacker::loadRow(Value term) {
  Value stride = view.loops.contracted.front().strides[kB].value;
  Value row = code.at(source, moved, code.multiply(term, stride));
  if (termsAhead > 0)
    code.prefetch(code.at(row, moved, code.multiply(stride, termsAhead)));
  Value loaded = view.loadColumns(kB, row, {code.constant(0), view.hasWholePanels() ? Value() : count});
  return kernels::toMemory(code, code.getLoc(), loaded, moved);
}

/// The first columns of all rows, then the second ones, and so on.
Value PanelPacker::interleave(ArrayRef<Value> rows) {
  if (rows.size() == 1)
    return rows.front();
  // Every second row, so that those of both halves take turns.
  SmallVector<Value> even, odd;
  for (auto [i, row] : llvm::enumerate(rows))
    (i % 2 == 0 ? even : odd).push_back(row);
  Value first = interleave(even), second = interleave(odd);
  auto count = int32_t(cast<VectorType>(first.getType()).getNumElements());
  SmallVector<int32_t> picks;
  for (int32_t column = 0; column < count; ++column)
    picks.append({column, column + count});
  return code.create<LLVM::ShuffleVectorOp>(first, second, picks);
}

void PanelPacker::packRow(Value term) {
  SmallVector<Value> rows;
  Value last = code.subtract(all, 1);
  for (int64_t i = 0; i != terms; ++i)
    rows.push_back(loadRow(i == 0 ? term : code.min(code.add(term, i), last)));
  code.store(interleave(rows), code.at(target, moved, code.multiply(term, kPanelColumns)));
}

/// Terms are contiguous: tiles of 16 columns and 16 terms, or pairs or fours of them, are transposed. Absent columns
/// repeat the last one, whose memory is there.
void PanelPacker::packColumns() {
  const Extent &stride = view.loops.n.strides[kB];
  Value last = code.subtract(count, 1);
  int64_t tileTerms = kPanelColumns * terms;
  Type unit = terms == 1 ? moved : code.getI32Type();
  SmallVector<Value> columns;
  for (int64_t column = 0; column < kPanelColumns; ++column) {
    Value present = code.min(column, last);
    columns.push_back(code.at(source, moved, code.multiply(present, stride.value)));
  }
  Value whole = code.multiply(code.divide(all, tileTerms), tileTerms);
  code.loop(0, whole, tileTerms, [&](Value term) {
    SmallVector<Value> tile;
    for (Value column : columns) {
      Value start = code.at(column, moved, term);
      tile.push_back(code.load(VectorType::get(kPanelColumns, unit), start));
      if (termsAhead > 0)
        code.prefetch(code.at(start, moved, termsAhead));
    }
    transpose(code, tile);
    Value start = code.at(target, moved, code.multiply(term, kPanelColumns));
    for (auto [i, row] : llvm::enumerate(tile))
      code.store(row, code.at(start, unit, static_cast<int64_t>(i) * kPanelColumns));
  });
  packElements(whole);
}

/// Panels next to each other, of which a term's columns are contiguous, are packed side by side: each term is read as
/// one run of memory.
static void packSideBySide(KernelView &view, Value panels, Value all, function_ref<PanelPacker(Value)> getPacker) {
  Code &code = view.code;
  code.loop(0, all, getInterleavedTerms(view.loops.operands[kB].elementType),
            [&](Value term) { code.loop(0, panels, 1, [&](Value panel) { getPacker(panel).packRow(term); }); });
}

/// The terms of panels, computed from integers.
static void packIntegers(KernelView &view, const IntegerForm &form, const PanelRange &range) {
  Code &code = view.code;
  Type element = view.loops.getFactorType();
  code.loop(0, range.panels, 1, [&](Value panel) {
    auto columns = IntegerColumns::ofPanels(code, view.loops, code.add(range.firstPanel, panel), range.terms);
    Value target = code.at(range.target, element, code.multiply(panel, range.panelLength));
    forEachTerm(code, view.entry, form, columns, /*panels=*/1, range.terms, {},
                [&](Value term, ValueRange numbers, ValueRange) {
                  code.store(numbers.front(), code.at(target, element, code.multiply(term, kPanelColumns)));
                  return SmallVector<Value>();
                });
  });
}

void cpu::packPanels(KernelView &view, const PanelRange &range) {
  Code &code = view.code;
  Type element = view.loops.operands[kB].elementType;
  Value columns = code.constant(kPanelColumns);
  auto getPacker = [&](Value panel) {
    Value first = code.multiply(code.add(range.firstPanel, panel), columns);
    return PanelPacker(view, code.at(range.source, element, code.multiply(first, view.loops.n.strides[kB].value)),
                       code.at(range.target, element, code.multiply(panel, range.panelLength)),
                       code.min(columns, code.subtract(view.loops.n.size.value, first)), range.terms, range.termsAhead);
  };
  if (view.readsBByTerms())
    return packSideBySide(view, range.panels, range.terms, getPacker);
  code.loop(0, range.panels, 1, [&](Value panel) { getPacker(panel).pack(); });
}

Value cpu::countPanelGroups(Code &code, const PanelMemory &memory) {
  return code.ceilDivide(memory.panels.value, code.constant(kPackedPanels));
}

void cpu::emitPackedPanels(KernelView &view, const IntegerForm &integers, Value low, Value high) {
  Code &code = view.code;
  KernelLoops all = view.loops;
  llvm::erase_if(view.loops.batches, [](const contraction::Loop &loop) { return loop.strides[kB].is(0); });
  Value groups = countPanelGroups(code, view.memory);
  code.loop(low, high, 1, [&](Value unit) {
    Value matrix = code.divide(unit, groups);
    PanelRange range;
    range.source = view.atBatch(kB, view.splitBatch(matrix));
    range.firstPanel = code.multiply(code.remainder(unit, groups), kPackedPanels);
    range.panels = code.min(kPackedPanels, code.subtract(view.memory.panels.value, range.firstPanel));
    range.panelLength = view.memory.panelLength.value;
    range.terms = view.memory.contracted.value;
    Value panel = code.add(code.multiply(matrix, view.memory.panels.value), range.firstPanel);
    range.target = code.at(getPackedPanels(view), view.loops.getFactorType(), code.multiply(panel, range.panelLength));
    if (integers.group != 0)
      packIntegers(view, integers, range);
    else
      packPanels(view, range);
  });
  view.loops = all;
}
