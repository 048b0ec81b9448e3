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

/// Panels whose largest numbers are kept at a time.
static constexpr int64_t kScannedPanels = 16;

/// Keys as the columns of a product, up to `end`.
KernelView ChunkPacker::viewKeys(unsigned operand, Value end) {
  KernelView keys(code, view.entry);
  Extent none = kernels::makeExtent(code, code.getLoc(), 0);
  Extent size = kernels::makeExtent(code, code.getLoc(), view.shape.operands[operand].columns);
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
  Extent size = kernels::makeExtent(code, code.getLoc(), view.shape.operands[operand].columns);
  columns.loops.operands = {{}, {view.shape.operands[operand].buffer, view.getElementType(operand)}};
  columns.loops.n = {size, {none, view.getStride(operand, kColumn)}};
  columns.loops.contracted = {{view.shape.keys, {none, view.getStride(operand, kKey)}}};
  columns.loops.arithmetic = view.getArithmetic();
  return columns;
}

void ChunkPacker::packKeys(unsigned operand, Value first, Value count, Value target, int64_t panelStride) {
  PanelRange range;
  // Chunks begin at any key where sequences lie in a pack.
  range.source = view.advance(view.atHead(operand, head), operand, kKey, first);
  range.target = target;
  range.panelLength = code.constant(panelStride);
  range.firstPanel = code.constant(0);
  range.panels = code.ceilDivide(count, code.constant(kPanelColumns));
  range.terms = code.constant(view.shape.operands[operand].columns);
  KernelView keys = viewKeys(operand, count);
  packPanels(keys, range);
}

void ChunkPacker::packColumns(unsigned operand, Value first, Value count, Value target, int64_t panelStride) {
  PanelRange range;
  range.source = view.advance(view.atHead(operand, head), operand, kKey, first);
  range.target = target;
  range.panelLength = code.constant(panelStride);
  range.firstPanel = code.constant(0);
  range.panels = code.constant(llvm::divideCeil(view.shape.operands[operand].columns, kPanelColumns));
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
  int64_t all = view.memory.paddedSize / kPanelColumns;
  Value step = code.constant(getInterleavedTerms(element));
  Value terms = code.multiply(code.ceilDivide(count, step), step);
  Value values = view.inSlot(view.memory.values, bits, code.constant(0));
  SmallVector<Value> largest;
  for (int64_t first = 0; first < all; first += kScannedPanels) {
    SmallVector<Value> zeros(std::min(kScannedPanels, all - first), splat(APInt::getZero(element.getWidth())));
    largest.append(code.loop(0, terms, 1, zeros, [&](Value term, ValueRange carried) {
      SmallVector<Value> next;
      Value row = code.at(values, bits, code.multiply(term, kPanelColumns));
      for (auto [panel, before] : llvm::enumerate(carried)) {
        int64_t offset = (first + int64_t(panel)) * view.memory.valuePanel;
        Value positive = code.both(code.load(type, code.at(row, bits, offset)), magnitude);
        next.push_back(code.create<arith::MaxUIOp>(before, positive));
      }
      return next;
    }));
  }
  Value infinity = splat(llvm::APFloat::getInf(element.getFloatSemantics()).bitcastToAPInt());
  SmallVector<Value> flags;
  for (Value number : largest)
    flags.push_back(code.compare(arith::CmpIPredicate::uge, number, infinity));
  return ScoreRows(view).hasAny(flags);
}
