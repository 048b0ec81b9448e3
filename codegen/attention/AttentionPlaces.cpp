// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/attention/AttentionPlaces.h"

#include "codegen/kernels/ElementMemory.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::attention;

AttentionPlaces::AttentionPlaces(Code &code, const AttentionShape &shape)
    : code(code), shape(shape), pointers(shape.pointers), past(shape.past) {
  Value *words[] = {&seed, &step, &firstRandomRow, &site, &firstCall, &extentLocal, &extentGlobal};
  for (auto [word, value] : llvm::zip(words, shape.dropout))
    *word = value;
}

Value AttentionPlaces::advance(Value pointer, unsigned operand, Loop loop, Value index) {
  const Extent &stride = getStride(operand, loop);
  Value steps = stride.is(1) ? index : code.multiply(index, stride.value);
  return stride.is(0) ? pointer : code.at(pointer, kernels::getMemoryType(getElementType(operand)), steps);
}

KeyRange AttentionPlaces::findSeen(Value low, Value high) {
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

KeyRange AttentionPlaces::findSeenByRows(Value first, Value count) {
  Value queries = shape.queries.value, one = code.constant(1), last = code.subtract(code.add(first, count), one);
  Value isOneHead = code.isEqual(code.divide(first, queries), code.divide(last, queries));
  return findSeen(code.select(isOneHead, code.remainder(first, queries), code.constant(0)),
                  code.select(isOneHead, code.remainder(last, queries), code.subtract(queries, one)));
}

Value AttentionPlaces::getFirstChunk(const KeyRange &range) {
  Value keys = code.constant(kChunkKeys);
  return range.first ? code.multiply(code.divide(range.first, keys), keys) : code.constant(0);
}

QueryPlace AttentionPlaces::getPlace(const KeyHead &head, Value row) {
  Value number = code.add(code.multiply(head.number, shape.group.value), code.divide(row, shape.queries.value));
  return {head.batch, number, code.remainder(row, shape.queries.value)};
}

/// Before it are (batch·heads + head)·queries + query rows, with the heads of q.
Value AttentionPlaces::getRandomRow(const QueryPlace &place) {
  Value heads = code.multiply(shape.keyHeads.value, shape.group.value);
  Value head = code.add(code.multiply(place.batch, heads), place.head);
  Value rowsBefore = code.add(code.multiply(head, shape.queries.value), place.query);
  if (extentLocal)
    rowsBefore = code.add(code.multiply(code.divide(rowsBefore, extentLocal), extentGlobal),
                          code.remainder(rowsBefore, extentLocal));
  return code.add(firstRandomRow, rowsBefore);
}
