// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a CPU adds to the places of an attention kernel: the slot of the task, and rows moved as vectors. Not: the order
// in which it is worked on.

#ifndef RESID_CODEGEN_CPU_ATTENTION_ATTENTIONVIEW_H
#define RESID_CODEGEN_CPU_ATTENTION_ATTENTIONVIEW_H

#include "codegen/attention/AttentionPlaces.h"
#include "codegen/cpu/attention/AttentionMemory.h"
#include "codegen/cpu/contractions/ElementRuns.h"
#include "dialect/WeightPanels.h"

namespace mlir::resid::cpu {

using attention::KeyHead;
using attention::KeyRange;
using attention::QueryPlace;

struct AttentionView : attention::AttentionPlaces {
  AttentionView(Code &code, Block *entry, const attention::AttentionShape &shape)
      : AttentionPlaces(code, shape), entry(entry), memory(shape), runs(code, entry) {}

  /// Where stack memory is taken.
  Block *entry;
  AttentionMemory memory;
  ElementRuns runs;
  /// The slot of this task.
  Value slot;

  VectorType getVectorType() const { return VectorType::get(kPanelColumns, shape.arithmetic); }
  /// Element `index` of what lies at an offset of the slot.
  Value inSlot(int64_t offset, Type element, Value index) {
    return code.at(code.at(slot, code.getI8Type(), offset), element, index);
  }
  /// Copies the columns of a row to `target`, in the arithmetic type.
  void loadRow(unsigned operand, Value source, Value target);
  /// Stores the columns of a row: `compute` gives those from one on, 16 at a time, in the arithmetic type.
  void storeRow(unsigned operand, Value target, function_ref<Value(int64_t column)> compute);
  /// One element of an operand of floats, in the arithmetic type.
  Value loadNumber(unsigned operand, Value pointer);
  /// The same in all elements of a vector.
  Value splat(double value) { return code.spread(constantFloat(value), kPanelColumns); }

  static constexpr int64_t kPanelColumns = resid::kPanelColumns;

private:
  void forRuns(unsigned operand, function_ref<void(int64_t column, Value count)> body);
  Value atColumn(unsigned operand, Value row, int64_t column) {
    return advance(row, operand, attention::kColumn, code.constant(column));
  }
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ATTENTION_ATTENTIONVIEW_H
