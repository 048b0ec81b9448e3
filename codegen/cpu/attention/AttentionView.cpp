// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which keys are seen, and conversions of elements of attention.

#include "codegen/cpu/attention/AttentionView.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

KeyRange AttentionView::findSeen(Value low, Value high) {
  SeenKeys keys = shape.getSeenKeys();
  KeyRange seen{{}, shape.keys.value};
  if (past) {
    seen.end = code.min(seen.end, code.add(past, shape.queries.value));
    low = code.add(low, past), high = code.add(high, past);
  }
  if (keys.end)
    seen.end = code.min(seen.end, code.add(high, *keys.end));
  if (keys.first)
    seen.first = code.max(code.add(low, *keys.first), 0);
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

QueryPlace AttentionView::getPlace(const KeyHead &head, Value row) {
  Value number = code.add(code.multiply(head.number, shape.group.value), code.divide(row, shape.queries.value));
  return {head.batch, number, code.remainder(row, shape.queries.value)};
}

/// Before it are (batch·heads + head)·queries + query rows, with the heads of q.
Value AttentionView::getRandomRow(const QueryPlace &place) {
  Value heads = code.multiply(shape.keyHeads.value, shape.group.value);
  Value head = code.add(code.multiply(place.batch, heads), place.head);
  Value rowsBefore = code.add(code.multiply(head, shape.queries.value), place.query);
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

/// 16 columns of a row at a time: the first one, and how many there are (null: all).
void AttentionView::forRuns(function_ref<void(int64_t, Value)> body) {
  for (int64_t column = 0; column < shape.headSize; column += kPanelColumns) {
    int64_t present = std::min(kPanelColumns, shape.headSize - column);
    body(column, present == kPanelColumns ? Value() : code.constant(present));
  }
}

void AttentionView::loadRow(unsigned operand, Value source, Value target) {
  forRuns([&](int64_t column, Value count) {
    Value run = runs.load(getElementType(operand), atColumn(operand, source, column),
                          getStride(operand, attention::kColumn), count);
    code.store(widen(run), code.at(target, getArithmetic(), column));
  });
}

void AttentionView::storeRow(unsigned operand, Value target, function_ref<Value(int64_t)> compute) {
  forRuns([&](int64_t column, Value count) {
    runs.store(narrow(compute(column), operand), getElementType(operand), atColumn(operand, target, column),
               getStride(operand, attention::kColumn), count);
  });
}

Value AttentionView::constantFloat(double value) {
  return code.create<arith::ConstantOp>(code.getFloatAttr(getArithmetic(), value));
}
