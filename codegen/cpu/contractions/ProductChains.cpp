// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chains of a product: one after the other for some rows, and several at a time for a row alone.

#include "codegen/cpu/contractions/ProductEmitter.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::contraction;

/// All terms of some rows; every chain has sums of its own, which the totals then take in.
void ProductEmitter::emitChains(const Cell &cell, Value first, Value end) {
  Value all = view.memory.contracted.value, zero = code.constant(0);
  if (view.loops.chain == 0)
    return emitTermTiles(cell, first, end, zero, all);
  Value start = zero;
  if (int64_t count = countChainsAtOnce(); count > 1)
    start = code.choose(
                    code.isEqual(code.subtract(end, first), 1), zero.getType(),
                    [&]() -> SmallVector<Value> { return {emitChainsAtOnce(cell, first, count)}; },
                    [&]() -> SmallVector<Value> { return {zero}; })
                .front();
  code.loop(start, all, view.loops.chain, [&](Value firstTerm) {
    Value isFirst = code.isEqual(firstTerm, zero);
    Value endTerm = code.min(code.add(firstTerm, view.loops.chain), all);
    forEachRow(first, end, [&](Value, Value sums) { startSums(sums); });
    emitTermTiles(cell, first, end, firstTerm, endTerm);
    forEachRow(first, end, [&](Value, Value sums) { addChain(cell, sums, sums, isFirst); });
  });
}

void ProductEmitter::addChain(const Cell &cell, Value chain, Value row, Value isFirst) {
  Type vector = VectorType::get(kPanelColumns, view.loops.arithmetic);
  code.loop(0, cell.panels, 1, [&](Value panel) {
    Value offset = code.multiply(panel, kPanelColumns), total = code.at(getTotal(row), view.loops.arithmetic, offset);
    Value sums = code.load(vector, code.at(chain, view.loops.arithmetic, offset));
    code.store(code.select(isFirst, sums, code.add(code.load(vector, total), sums)), total);
  });
}

/// A row alone has few sums. As many chains as hide the latency of an operation run beside each other.
int64_t ProductEmitter::countChainsAtOnce() const {
  constexpr int64_t kMost = 4;
  const Extent &rows = view.loops.m.size;
  if (cells.packsParts || (rows.isKnown() && rows.known != 1))
    return 1;
  return std::min({kMost, shape.rows, shape.rows * getScaledLength() / view.loops.chain});
}

Value ProductEmitter::emitChainsAtOnce(const Cell &cell, Value row, int64_t count) {
  int64_t chain = view.loops.chain, run = count * chain;
  Value whole = code.multiply(code.divide(view.memory.contracted.value, run), run);
  code.loop(0, whole, run, [&](Value firstTerm) {
    TermTile tile = makeTile(cell, firstTerm, code.constant(run));
    MicroKernels::Operands operands;
    operands.a = getRowsOfA(cell, /*rows=*/1, row, tile).first;
    operands.aStride = operands.terms = code.constant(chain);
    operands.panelStride = tile.panelStride;
    MicroKernels::Form form = getForm(/*rows=*/count);
    form.chain = chain;
    code.loop(0, count, 1, [&](Value i) { startSums(getSums(i)); });
    forEachGroup(cell, tile, [&](const TermTile &group) {
      operands.b = group.b;
      operands.sums = code.at(waiting, view.loops.arithmetic, code.multiply(group.firstPanel, kPanelColumns));
      emitMicroKernel(cell, form, operands, group);
    });
    code.loop(0, count, 1, [&](Value i) {
      Value isFirst = code.isEqual(code.add(firstTerm, i), 0);
      addChain(cell, getSums(i), waiting, isFirst);
    });
  });
  return whole;
}
