// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short forms for code of counted loops on i64 and pointers. Not: what is computed in them.

#ifndef RESID_CODEGEN_CPU_CONTRACTIONS_LOOPCODE_H
#define RESID_CODEGEN_CPU_CONTRACTIONS_LOOPCODE_H

#include "mlir/IR/Builders.h"

namespace mlir::resid::cpu {

class LoopCode {
public:
  LoopCode(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value constant(int64_t value);
  Value add(Value a, Value b);
  Value subtract(Value a, Value b);
  Value multiply(Value a, Value b);
  /// Of numbers that are not negative; `b` is not 0.
  Value divide(Value a, Value b);
  Value remainder(Value a, Value b);
  Value ceilDivide(Value a, Value b);
  Value min(Value a, Value b);
  Value max(Value a, Value b);
  Value select(Value condition, Value a, Value b);
  /// a ≤ b, and a = b.
  Value isAtMost(Value a, Value b);
  Value isEqual(Value a, Value b);

  /// for (i = low; i < high; i += step)
  void loop(Value low, Value high, int64_t step, function_ref<void(Value)> body);
  void loop(Value low, Value high, Value step, function_ref<void(Value)> body);
  /// The same with values carried along: `body` gives the next ones, and the result is the last ones.
  SmallVector<Value> loop(Value low, Value high, int64_t step, ValueRange first,
                          function_ref<SmallVector<Value>(Value, ValueRange)> body);
  void choose(Value condition, function_ref<void()> then, function_ref<void()> otherwise = {});
  /// A choice between values.
  SmallVector<Value> choose(Value condition, TypeRange types, function_ref<SmallVector<Value>()> then,
                            function_ref<SmallVector<Value>()> otherwise);

  /// The address of element `index`, and element `index` counted on from there.
  Value at(Value pointer, Type element, Value index);
  Value at(Value pointer, Type element, int64_t index);
  /// No alignment is assumed.
  Value load(Type type, Value pointer);
  void store(Value value, Value pointer);
  /// Fetches the line at an address, which need not be there, into the second level of the cache: lines of far rows
  /// compete for the same few places of the first.
  void prefetch(Value pointer);
  /// Stack memory for so many elements, taken in `entry` and aligned to cache lines.
  Value allocate(Block *entry, Type element, int64_t count);
  /// `value`, a scalar or vector, on all lanes.
  Value spread(Value value, int64_t lanes);

  OpBuilder &builder;
  Location loc;
};

/// What an element is in memory: 16-bit floats are moved as integers, since LLVM takes vectors of bf16 apart where the
/// processor does not know the type.
Type getMovedType(Type element);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CONTRACTIONS_LOOPCODE_H
