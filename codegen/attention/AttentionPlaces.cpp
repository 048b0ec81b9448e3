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

Value AttentionPlaces::loadRange(unsigned number, Value batch, Value query) {
  unsigned operand = shape.getRanges() + number;
  Value pointer = advance(advance(pointers[operand], operand, kBatch, batch), operand, kQuery, query);
  return kernels::loadElement(code, code.getLoc(), getElementType(operand), pointer, code.constant(0),
                              kernels::Alignment::Element);
}

KeyRange AttentionPlaces::findSeen(const QueryPlace &place) {
  if (shape.ranges == 0)
    return findSeenBetween(place.query, place.query);
  auto load = [&](unsigned number) { return loadRange(number, place.batch, place.query); };
  return {load(0), load(1), shape.hasOrigins() ? load(2) : Value()};
}

/// From causality and the window.
KeyRange AttentionPlaces::findSeenBetween(Value low, Value high) {
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

KeyRange AttentionPlaces::findSeenByRows(const KeyHead &head, Value first, Value count) {
  Value queries = shape.queries.value, one = code.constant(1), last = code.subtract(code.add(first, count), one);
  if (shape.ranges != 0) {
    KeyRange seen = findSeen(getPlace(head, first));
    auto join = [&](Value row, ValueRange all) -> SmallVector<Value> {
      KeyRange next = findSeen(getPlace(head, row));
      return {code.min(all[0], next.first), code.max(all[1], next.end)};
    };
    SmallVector<Value> all =
        code.rolledLoop(code.add(first, one), code.add(last, one), 1, {seen.first, seen.end}, join);
    return {all[0], all[1], seen.origin};
  }
  Value isOneHead = code.isEqual(code.divide(first, queries), code.divide(last, queries));
  return findSeenBetween(code.select(isOneHead, code.remainder(first, queries), code.constant(0)),
                         code.select(isOneHead, code.remainder(last, queries), code.subtract(queries, one)));
}

/// A query without keys may have any origin: whatever part it is in, it sees nothing there.
SmallVector<Value> AttentionPlaces::forOrigins(const KeyHead &head, Value first, Value end, ValueRange carried,
                                               PartBody body) {
  if (!shape.hasOrigins())
    return body(first, end, carried);
  auto getOrigin = [&](Value row) { return loadRange(2, head.batch, code.remainder(row, shape.queries.value)); };
  SmallVector<Value> begin{first};
  llvm::append_range(begin, carried);
  SmallVector<Value> all =
      code.rolledLoop(first, end, 1, begin, [&](Value row, ValueRange before) -> SmallVector<Value> {
        Value next = code.add(row, 1), isLast = code.isEqual(next, end);
        Value following = getOrigin(code.select(isLast, row, next));
        Value differs = code.compare(arith::CmpIPredicate::ne, getOrigin(row), following);
        return code.choose(
            code.either(isLast, differs), before.getTypes(),
            [&] {
              SmallVector<Value> after{next};
              llvm::append_range(after, body(before[0], next, before.drop_front()));
              return after;
            },
            [&] { return SmallVector<Value>(before); });
      });
  all.erase(all.begin());
  return all;
}

Value AttentionPlaces::getFirstChunk(const KeyRange &range) {
  if (!range.first)
    return code.constant(0);
  Value first = code.multiply(getChunkNumber(range, range.first), kChunkKeys);
  return range.origin ? code.add(range.origin, first) : first;
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
