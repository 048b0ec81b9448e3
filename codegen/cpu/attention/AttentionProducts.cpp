// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two products of a block of rows: which rows go together, and on what they work. Not: what is done with the scores
// between them (AttentionEmitter.cpp).

#include "codegen/cpu/attention/AttentionEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::attention;

UnpackedProducts::Keys AttentionEmitter::getKeys(const Unit &unit, const Chunk &chunk, const RowBlock &block) {
  return {unit.head, code.add(chunk.first, block.from), code.subtract(block.keys, block.from)};
}

/// Runs a block's rows through micro-kernels of the heights that there are.
void AttentionEmitter::forHeights(Value count, function_ref<void(int64_t, Value)> body) {
  code.choose(
      code.isEqual(count, shape.rows), [&] { body(shape.rows, code.constant(0)); },
      [&] { shape.forFewRows(code, code.constant(0), count, std::nullopt, body); });
}

/// The same without packed factors, whose code is longer: where rows are not counted, there are two heights.
void AttentionEmitter::forUnpackedHeights(Value count, function_ref<void(int64_t, Value)> body) {
  if (std::optional<int64_t> known = getConstantIntValue(count)) {
    int64_t at = 0;
    for (int64_t height : shape.getHeights())
      for (; at + height <= *known; at += height)
        body(height, code.constant(at));
    return;
  }
  Value at = code.constant(0);
  for (int64_t height : {int64_t(4), int64_t(1)}) {
    Value step = code.constant(height), left = code.subtract(count, at);
    Value end = code.add(at, code.multiply(code.divide(left, step), step));
    code.loop(at, end, height, [&](Value row) { body(height, row); });
    at = end;
  }
}

/// q·k of `height` rows of a block, from row `first` of it on, with packed keys.
void AttentionEmitter::emitPackedScores(const RowBlock &block, int64_t height, Value first) {
  const AttentionMemory &memory = view.memory;
  FloatType arithmetic = view.getArithmetic();
  Type element = view.getElementType(AttentionShape::kK);
  Value panels = code.ceilDivide(block.keys, code.constant(kPanelColumns));
  MicroKernels::Operands operands;
  Value row = code.add(block.first, first);
  operands.aStride = code.constant(memory.queryStride);
  operands.a = view.inSlot(memory.queries, arithmetic, code.multiply(row, operands.aStride));
  operands.panelStride = code.constant(memory.keyPanel);
  operands.terms = code.constant(view.shape.getHeadSize());
  code.loop(code.divide(block.from, kPanelColumns), panels, shape.panels, [&](Value panel) {
    operands.b = view.inSlot(memory.keys, getMovedType(element), code.multiply(panel, operands.panelStride));
    Value score = code.add(code.multiply(first, memory.scoreStride), code.multiply(panel, kPanelColumns));
    operands.sums = view.inSlot(memory.scores, arithmetic, score);
    shape.choosePanels(code, code.subtract(panels, panel), [&](int64_t count) {
      microKernels.emitCall(
          code, {arithmetic, element, height, count * kPanelColumns, memory.scoreStride, /*startsAtZero=*/true},
          operands);
    });
  });
}

/// The same with keys where they lie.
void AttentionEmitter::emitUnpackedScores(const Unit &unit, const Chunk &chunk, const RowBlock &block, int64_t height,
                                          Value first) {
  const AttentionMemory &memory = view.memory;
  FloatType arithmetic = view.getArithmetic();
  Value query = code.multiply(code.add(block.first, first), memory.queryStride);
  Value score = code.add(code.multiply(first, memory.scoreStride), block.from);
  unpacked.emitScores(getKeys(unit, chunk, block), height, view.inSlot(memory.queries, arithmetic, query),
                      view.inSlot(memory.scores, arithmetic, score));
}

void AttentionEmitter::emitScores(const Unit &unit, const Chunk &chunk, const RowBlock &block) {
  auto emitUnpacked = [&] {
    forUnpackedHeights(block.count,
                       [&](int64_t height, Value first) { emitUnpackedScores(unit, chunk, block, height, first); });
    return SmallVector<Value>();
  };
  auto emitPacked = [&] {
    forHeights(block.count, [&](int64_t height, Value first) { emitPackedScores(block, height, first); });
    return SmallVector<Value>();
  };
  inForm(unit, {}, emitUnpacked, emitPacked);
}

void AttentionEmitter::emitPackedValues(const RowBlock &block, Value target) {
  const AttentionMemory &memory = view.memory;
  FloatType arithmetic = view.getArithmetic();
  Type element = view.getElementType(AttentionShape::kV);
  forHeights(block.count, [&](int64_t height, Value first) {
    MicroKernels::Operands operands;
    operands.aStride = code.constant(memory.scoreStride);
    operands.a = view.inSlot(memory.scores, arithmetic, code.add(code.multiply(first, operands.aStride), block.from));
    operands.panelStride = code.constant(memory.valuePanel);
    operands.terms = code.subtract(block.keys, block.from);
    Value skipped = code.multiply(block.from, kPanelColumns);
    Value start = code.at(target, arithmetic, code.multiply(first, memory.paddedSize));
    int64_t panels = memory.paddedSize / kPanelColumns;
    for (int64_t panel = 0; panel < panels; panel += shape.panels) {
      operands.b = view.inSlot(memory.values, getMovedType(element), code.add(panel * memory.valuePanel, skipped));
      operands.sums = code.at(start, arithmetic, panel * kPanelColumns);
      int64_t columns = std::min(shape.panels, panels - panel) * kPanelColumns;
      microKernels.emitCall(code, {arithmetic, element, height, columns, memory.paddedSize, /*startsAtZero=*/true},
                            operands);
    }
  });
}

void AttentionEmitter::emitUnpackedValues(const Unit &unit, const Chunk &chunk, const RowBlock &block, Value target) {
  const AttentionMemory &memory = view.memory;
  FloatType arithmetic = view.getArithmetic();
  forUnpackedHeights(block.count, [&](int64_t height, Value first) {
    Value weight = code.add(code.multiply(first, memory.scoreStride), block.from);
    Value weights = view.inSlot(memory.scores, arithmetic, weight);
    Value sums = code.at(target, arithmetic, code.multiply(first, memory.paddedSize));
    unpacked.emitValues(getKeys(unit, chunk, block), height, weights, sums);
  });
}

/// The weighted values, at `target`.
void AttentionEmitter::emitValues(const Unit &unit, const Chunk &chunk, const RowBlock &block, Value target) {
  auto emitUnpacked = [&] {
    emitUnpackedValues(unit, chunk, block, target);
    return SmallVector<Value>{unpacked.findSpecial(block.count, target)};
  };
  auto emitPacked = [&] {
    code.choose(
        chunk.hasSpecial, [] {}, [&] { emitPackedValues(block, target); });
    return SmallVector<Value>{chunk.hasSpecial};
  };
  Value hasSpecial = inForm(unit, code.getI1Type(), emitUnpacked, emitPacked).front();
  code.choose(hasSpecial, [&] { emitSpecialValues(unit, chunk, block, target); });
}

/// One element after the other, without those whose weights are -0: absent keys, whatever their values are.
void AttentionEmitter::emitSpecialValues(const Unit &unit, const Chunk &chunk, const RowBlock &block, Value target) {
  const AttentionMemory &memory = view.memory;
  FloatType arithmetic = view.getArithmetic();
  Type bits = code.getIntegerType(arithmetic.getWidth()), element = view.getElementType(AttentionShape::kV);
  Value absent = code.create<arith::ConstantOp>(code.getIntegerAttr(bits, APInt::getSignMask(arithmetic.getWidth())));
  Value source = view.advance(view.atHead(AttentionShape::kV, unit.head), AttentionShape::kV, kKey, chunk.first);
  code.loop(0, block.count, 1, [&](Value i) {
    Value sums = code.at(target, arithmetic, code.multiply(i, memory.paddedSize));
    Value weights = view.inSlot(memory.scores, arithmetic, code.multiply(i, memory.scoreStride));
    for (int64_t column = 0; column < memory.paddedSize; column += kPanelColumns)
      code.store(view.splat(0.0), code.at(sums, arithmetic, column));
    code.loop(block.from, block.keys, 1, [&](Value key) {
      Value weight = code.load(arithmetic, code.at(weights, arithmetic, key));
      Value pattern = code.create<arith::BitcastOp>(bits, weight);
      Value isPresent = code.compare(arith::CmpIPredicate::ne, pattern, absent);
      code.choose(isPresent, [&] {
        Value values = view.advance(source, AttentionShape::kV, kKey, key);
        code.loop(0, view.shape.getValueSize(), 1, [&](Value column) {
          Value place = code.at(sums, arithmetic, column);
          Value moved = code.load(getMovedType(element), view.advance(values, AttentionShape::kV, kColumn, column));
          Value value = view.widen(code.create<arith::BitcastOp>(element, moved));
          Value sum = code.load(arithmetic, place);
          code.store(code.fma(weight, value, sum), place);
        });
      });
    });
  });
}
