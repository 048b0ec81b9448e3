// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs a chunk as the right factors of two products.

#include "codegen/cpu/attention/ChunkPacker.h"

#include "codegen/cpu/attention/ScoreRows.h"
#include "codegen/cpu/contractions/PackFactors.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::attention;

/// Keys as the columns of a product, up to `end`.
KernelView ChunkPacker::viewKeys(unsigned operand, Value end) {
  KernelView keys(code, view.entry);
  Extent none = kernels::makeExtent(code, code.getLoc(), 0);
  Extent size = kernels::makeExtent(code, code.getLoc(), view.shape.headSize);
  keys.loops.operands = {{}, {view.shape.operands[operand].buffer, view.getElementType(operand)}};
  keys.loops.n = {{end}, {none, view.getStride(operand, kKey)}};
  keys.loops.contracted = {{size, {none, view.getStride(operand, kColumn)}}};
  keys.loops.arithmetic = view.getArithmetic();
  return keys;
}

/// The columns of a head as those of a product.
KernelView ChunkPacker::viewColumns(unsigned operand) {
  KernelView columns(code, view.entry);
  Extent none = kernels::makeExtent(code, code.getLoc(), 0);
  Extent size = kernels::makeExtent(code, code.getLoc(), view.shape.headSize);
  columns.loops.operands = {{}, {view.shape.operands[operand].buffer, view.getElementType(operand)}};
  columns.loops.n = {size, {none, view.getStride(operand, kColumn)}};
  columns.loops.contracted = {{view.shape.keys, {none, view.getStride(operand, kKey)}}};
  columns.loops.arithmetic = view.getArithmetic();
  return columns;
}

void ChunkPacker::packKeys(unsigned operand, Value first, Value count, Value target, int64_t panelStride) {
  PanelRange range;
  range.source = view.atHead(operand, head);
  range.target = target;
  range.panelLength = code.constant(panelStride);
  range.firstPanel = code.divide(first, kPanelColumns);
  range.panels = code.ceilDivide(count, code.constant(kPanelColumns));
  range.terms = code.constant(view.shape.headSize);
  KernelView keys = viewKeys(operand, code.add(first, count));
  packPanels(keys, range);
}

void ChunkPacker::packColumns(unsigned operand, Value first, Value count, Value target, int64_t panelStride) {
  PanelRange range;
  range.source = view.advance(view.atHead(operand, head), operand, kKey, first);
  range.target = target;
  range.panelLength = code.constant(panelStride);
  range.firstPanel = code.constant(0);
  range.panels = code.constant(view.memory.paddedSize / kPanelColumns);
  range.terms = count;
  KernelView columns = viewColumns(operand);
  packPanels(columns, range);
}

void ChunkPacker::pack(Value first, Value count) {
  const AttentionMemory &memory = view.memory;
  auto at = [&](int64_t offset, unsigned operand) {
    return view.inSlot(offset, getMovedType(view.getElementType(operand)), code.constant(0));
  };
  packKeys(AttentionShape::kK, first, count, at(memory.keys, AttentionShape::kK), memory.keyPanel);
  packColumns(AttentionShape::kV, first, count, at(memory.values, AttentionShape::kV), memory.valuePanel);
}

/// Looks for exponents of ones only.
Value ChunkPacker::findSpecial(Value count) {
  auto element = cast<FloatType>(view.getElementType(AttentionShape::kV));
  Type bits = code.getIntegerType(element.getWidth());
  auto type = VectorType::get(kPanelColumns, bits);
  auto splat = [&](const APInt &number) -> Value {
    return code.create<arith::ConstantOp>(DenseElementsAttr::get(type, number));
  };
  Value magnitude = splat(APInt::getSignedMaxValue(element.getWidth()));
  int64_t panels = view.memory.paddedSize / kPanelColumns;
  Value step = code.constant(getInterleavedTerms(element));
  Value terms = code.multiply(code.ceilDivide(count, step), step);
  Value values = view.inSlot(view.memory.values, bits, code.constant(0));
  SmallVector<Value> zeros(panels, splat(APInt::getZero(element.getWidth())));
  SmallVector<Value> largest = code.loop(0, terms, 1, zeros, [&](Value term, ValueRange carried) {
    SmallVector<Value> next;
    Value row = code.at(values, bits, code.multiply(term, kPanelColumns));
    for (int64_t panel = 0; panel < panels; ++panel) {
      Value numbers = code.load(type, code.at(row, bits, panel * view.memory.valuePanel));
      Value positive = code.both(numbers, magnitude);
      next.push_back(code.create<arith::MaxUIOp>(carried[panel], positive));
    }
    return next;
  });
  Value infinity = splat(llvm::APFloat::getInf(element.getFloatSemantics()).bitcastToAPInt());
  SmallVector<Value> flags;
  for (Value number : largest)
    flags.push_back(code.compare(arith::CmpIPredicate::uge, number, infinity));
  return ScoreRows(view).hasAny(flags);
}
