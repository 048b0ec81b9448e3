// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which keys are seen, and conversions of elements of attention.

#include "codegen/cpu/attention/AttentionView.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

KeyRange AttentionView::findSeen(Value low, Value high) {
  int64_t window = shape.window;
  KeyRange seen{{}, shape.keys.value};
  if (past) {
    seen.end = code.min(seen.end, code.add(past, shape.queries.value));
    low = code.add(low, past), high = code.add(high, past);
  }
  if (shape.isCausal || window != 0)
    seen.end = code.min(seen.end, code.add(high, shape.isCausal ? 1 : window));
  if (window != 0)
    seen.first = code.max(code.subtract(low, window - 1), 0);
  return seen;
}

KeyRange AttentionView::findSeenByRows(Value first, Value count) {
  Value queries = shape.queries.value, one = code.constant(1), last = code.subtract(code.add(first, count), one);
  Value isOneHead = code.isEqual(code.divide(first, queries), code.divide(last, queries));
  return findSeen(code.select(isOneHead, code.remainder(first, queries), code.constant(0)),
                  code.select(isOneHead, code.remainder(last, queries), code.subtract(queries, one)));
}

Value AttentionView::getFirstChunk(const KeyRange &range) {
  Value keys = code.constant(attention::kChunkKeys);
  return range.first ? code.multiply(code.divide(range.first, keys), keys) : code.constant(0);
}

Value AttentionView::getRandomRow(Value rowsBefore) {
  if (extentLocal)
    rowsBefore = code.add(code.multiply(code.divide(rowsBefore, extentLocal), extentGlobal),
                          code.remainder(rowsBefore, extentLocal));
  return code.add(firstRandomRow, rowsBefore);
}

Value AttentionView::loadNumber(unsigned operand, Value pointer) {
  Type element = getElementType(operand);
  Value moved = code.load(getMovedType(element), pointer);
  return widen(kernels::fromMemory(code, code.getLoc(), moved, element));
}

Value AttentionView::constantFloat(double value) {
  return code.create<arith::ConstantOp>(code.getFloatAttr(getArithmetic(), value));
}
