// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of elements of attention.

#include "codegen/cpu/attention/AttentionView.h"

#include "codegen/kernels/ElementMemory.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

Value AttentionView::loadNumber(unsigned operand, Value pointer) {
  Type element = getElementType(operand);
  Value moved = code.load(getMovedType(element), pointer);
  return widen(kernels::fromMemory(code, code.getLoc(), moved, element));
}

/// 16 columns of a row at a time: the first one, and how many there are (null: all).
void AttentionView::forRuns(unsigned operand, function_ref<void(int64_t, Value)> body) {
  int64_t columns = shape.operands[operand].columns;
  for (int64_t column = 0; column < columns; column += kPanelColumns) {
    int64_t present = std::min(kPanelColumns, columns - column);
    body(column, present == kPanelColumns ? Value() : code.constant(present));
  }
}

void AttentionView::loadRow(unsigned operand, Value source, Value target) {
  forRuns(operand, [&](int64_t column, Value count) {
    Value run = runs.load(getElementType(operand), atColumn(operand, source, column),
                          getStride(operand, attention::kColumn), count);
    code.store(widen(run), code.at(target, getArithmetic(), column));
  });
}

void AttentionView::storeRow(unsigned operand, Value target, function_ref<Value(int64_t)> compute) {
  forRuns(operand, [&](int64_t column, Value count) {
    runs.store(narrow(compute(column), operand), getElementType(operand), atColumn(operand, target, column),
               getStride(operand, attention::kColumn), count);
  });
}
