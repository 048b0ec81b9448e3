// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An attention kernel seen from inside of its function: pointers, sizes and strides there, and the slot of the task.
// Not: the order in which it is worked on.

#ifndef RESID_CODEGEN_CPU_ATTENTION_ATTENTIONVIEW_H
#define RESID_CODEGEN_CPU_ATTENTION_ATTENTIONVIEW_H

#include "codegen/builder/Code.h"
#include "codegen/cpu/attention/AttentionMemory.h"
#include "codegen/cpu/contractions/ElementRuns.h"
#include "codegen/kernels/ElementCast.h"
#include "dialect/WeightPanels.h"

namespace mlir::resid::cpu {

/// Keys from `first` up to `end`; none where it is no more. Null: `first` is 0.
struct KeyRange {
  Value first, end;
};

/// A head of keys.
struct KeyHead {
  Value batch, number;
};

/// A query of a head of q.
struct QueryPlace {
  Value batch, head, query;
};

struct AttentionView {
  AttentionView(Code &code, Block *entry, const attention::AttentionShape &shape)
      : code(code), entry(entry), shape(shape), memory(shape), runs(code, entry), pointers(shape.pointers),
        past(shape.past) {
    Value *words[] = {&seed, &step, &firstRandomRow, &site, &firstCall, &extentLocal, &extentGlobal};
    for (auto [word, value] : llvm::zip(words, shape.dropout))
      *word = value;
  }

  Code &code;
  /// Where stack memory is taken.
  Block *entry;
  attention::AttentionShape shape;
  AttentionMemory memory;
  ElementRuns runs;
  /// By operand.
  SmallVector<Value> pointers;
  /// How many keys were in the cache before (i64); null without a cache.
  Value past;
  /// What the counters of dropout have in common (i64); null without one.
  Value seed, step, firstRandomRow, site;
  /// Of a shard (i64), else null: the call of its first column, and its extent.
  Value firstCall, extentLocal, extentGlobal;
  /// The slot of this task.
  Value slot;

  FloatType getArithmetic() const { return shape.arithmetic; }
  VectorType getVectorType() const { return VectorType::get(kPanelColumns, shape.arithmetic); }
  Type getElementType(unsigned operand) const { return shape.operands[operand].elementType; }
  const attention::Extent &getStride(unsigned operand, attention::Loop loop) const {
    return shape.operands[operand].strides[loop];
  }

  /// Element `index` of what lies at an offset of the slot.
  Value inSlot(int64_t offset, Type element, Value index) {
    return code.at(code.at(slot, code.getI8Type(), offset), element, index);
  }
  /// The address `index` steps along a loop further on.
  Value advance(Value pointer, unsigned operand, attention::Loop loop, Value index) {
    const attention::Extent &stride = getStride(operand, loop);
    Value steps = stride.is(1) ? index : code.multiply(index, stride.value);
    return stride.is(0) ? pointer : code.at(pointer, getMovedType(getElementType(operand)), steps);
  }
  /// Which keys the queries from `low` to `high`, of one head or of all that read a head of keys, may see: those that
  /// are in the cache, and that causality and the window leave to one of them. Masks are not asked.
  KeyRange findSeen(Value low, Value high);
  /// The same of rows of a head of keys. Row r is query r mod queries of head r div queries, of those that read it.
  KeyRange findSeenByRows(Value first, Value count);
  QueryPlace getPlace(const KeyHead &head, Value row);
  /// The first key of a range's first chunk.
  Value getFirstChunk(const KeyRange &range);
  /// The row in the counters of dropout.
  Value getRandomRow(const QueryPlace &place);
  /// Where an operand's numbers of a head, or of a query, begin.
  Value atHead(unsigned operand, Value batch, Value head) {
    return advance(advance(pointers[operand], operand, attention::kBatch, batch), operand, attention::kHead, head);
  }
  Value atHead(unsigned operand, const KeyHead &head) { return atHead(operand, head.batch, head.number); }
  Value atPlace(unsigned operand, const QueryPlace &place) {
    return advance(atHead(operand, place.batch, place.head), operand, attention::kQuery, place.query);
  }
  /// Copies the columns of a row to `target`, in the arithmetic type.
  void loadRow(unsigned operand, Value source, Value target);
  /// Stores the columns of a row: `compute` gives those from one on, 16 at a time, in the arithmetic type.
  void storeRow(unsigned operand, Value target, function_ref<Value(int64_t column)> compute);
  /// Of floats, in the arithmetic type.
  Value widen(Value value) { return code.castFloat(value, getArithmetic()); }
  /// A number, or a vector of them, of the arithmetic type in an operand's type.
  Value narrow(Value value, unsigned operand) { return code.castFloat(value, getElementType(operand)); }
  /// One element of an operand of floats, in the arithmetic type.
  Value loadNumber(unsigned operand, Value pointer);
  Value constantFloat(double value);
  /// The same in all elements of a vector.
  Value splat(double value) { return code.spread(constantFloat(value), kPanelColumns); }

  static constexpr int64_t kPanelColumns = resid::kPanelColumns;

private:
  void forRuns(function_ref<void(int64_t column, Value count)> body);
  Value atColumn(unsigned operand, Value row, int64_t column) {
    return advance(row, operand, attention::kColumn, code.constant(column));
  }
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ATTENTION_ATTENTIONVIEW_H
