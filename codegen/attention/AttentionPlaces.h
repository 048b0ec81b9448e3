// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An attention kernel seen from inside of its function: where its numbers lie, and which keys queries see. Not: the
// order in which it is worked on, nor what is done to numbers (ScoreArithmetic.h).

#ifndef RESID_CODEGEN_ATTENTION_ATTENTIONPLACES_H
#define RESID_CODEGEN_ATTENTION_ATTENTIONPLACES_H

#include "codegen/attention/AttentionShape.h"
#include "codegen/builder/Code.h"

namespace mlir::resid::attention {

/// Keys from `first` up to `end`; none where it is no more. Null: `first` is 0. Chunks begin at `origin` and every so
/// many keys further on; null: at 0.
struct KeyRange {
  Value first, end, origin = {};
};

/// A head of keys.
struct KeyHead {
  Value batch, number;
};

/// A query of a head of q.
struct QueryPlace {
  Value batch, head, query;
};

struct AttentionPlaces {
  AttentionPlaces(Code &code, const AttentionShape &shape);

  Code &code;
  AttentionShape shape;
  /// By operand.
  SmallVector<Value> pointers;
  /// How many keys were in the cache before (i64); null without a cache.
  Value past;
  /// What the counters of dropout have in common (i64); null without one.
  Value seed, step, firstRandomRow, site;
  /// Of a shard (i64), else null: the call of its first column, and its extent.
  Value firstCall, extentLocal, extentGlobal;

  FloatType getArithmetic() const { return shape.arithmetic; }
  Type getElementType(unsigned operand) const { return shape.operands[operand].elementType; }
  const Extent &getStride(unsigned operand, Loop loop) const { return shape.operands[operand].strides[loop]; }

  /// The address `index` steps along a loop further on.
  Value advance(Value pointer, unsigned operand, Loop loop, Value index);
  /// Which keys a query may see: those that are in the cache, and that causality and the window, or its range, leave to
  /// it. Masks are not asked.
  KeyRange findSeen(const QueryPlace &place);
  /// Those that one of some rows of a head of keys may see. Row r is query r mod queries of head r div queries, of
  /// those that read it. All of them have one origin.
  KeyRange findSeenByRows(const KeyHead &head, Value first, Value count);
  /// Rows [first, end) of a head, in parts that have one origin each. Each part takes what the one before gave.
  using PartBody = function_ref<SmallVector<Value>(Value first, Value end, ValueRange carried)>;
  SmallVector<Value> forOrigins(const KeyHead &head, Value first, Value end, ValueRange carried, PartBody body);
  void forOrigins(const KeyHead &head, Value first, Value end, function_ref<void(Value first, Value end)> body) {
    forOrigins(head, first, end, {}, [&](Value low, Value high, ValueRange) {
      body(low, high);
      return SmallVector<Value>();
    });
  }
  QueryPlace getPlace(const KeyHead &head, Value row);
  /// Rows of a head of keys.
  Value countRows() { return code.multiply(shape.group.value, shape.queries.value); }
  /// The first key of a range's first chunk.
  Value getFirstChunk(const KeyRange &range);
  /// The number of the chunk that begins at a key.
  Value getChunkNumber(const KeyRange &range, Value first) {
    return code.divide(range.origin ? code.subtract(first, range.origin) : first, kChunkKeys);
  }
  /// The row in the counters of dropout.
  Value getRandomRow(const QueryPlace &place);
  /// Where an operand's numbers of a head, or of a query, begin.
  Value atHead(unsigned operand, Value batch, Value head) {
    return advance(advance(pointers[operand], operand, kBatch, batch), operand, kHead, head);
  }
  Value atHead(unsigned operand, const KeyHead &head) { return atHead(operand, head.batch, head.number); }
  Value atPlace(unsigned operand, const QueryPlace &place) {
    return advance(atHead(operand, place.batch, place.head), operand, kQuery, place.query);
  }
  /// A number of a query's range (i64): 0 is the first key, 1 the end, 2 the origin.
  Value loadRange(unsigned number, Value batch, Value query);
  KeyRange findSeenBetween(Value low, Value high);
  /// Of floats, in the arithmetic type.
  Value widen(Value value) { return code.castFloat(value, getArithmetic()); }
  /// A number, or a vector of them, of the arithmetic type in an operand's type.
  Value narrow(Value value, unsigned operand) { return code.castFloat(value, getElementType(operand)); }
  /// Of the arithmetic type.
  Value constantFloat(double value) { return code.constant(getArithmetic(), value); }
};

} // namespace mlir::resid::attention

#endif // RESID_CODEGEN_ATTENTION_ATTENTIONPLACES_H
