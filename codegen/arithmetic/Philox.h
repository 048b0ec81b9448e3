// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The random number generator of dropout, Philox4x32-10, as arithmetic. Not: where its numbers are used.

#ifndef RESID_CODEGEN_ARITHMETIC_PHILOX_H
#define RESID_CODEGEN_ARITHMETIC_PHILOX_H

#include "dialect/DropoutScheme.h"
#include "mlir/IR/Builders.h"

namespace mlir::resid::arithmetic {

/// Columns whose random halves one counter gives: its first word is the column divided by this, and its four words of
/// output are their halves in order.
inline constexpr int64_t kColumnsPerCounter = dropoutColumnsPerCall;

/// The counter's first word (i64) for the columns from `column` (i64) on.
Value emitCounterOf(OpBuilder &builder, Location loc, Value column);

/// Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011).
/// `counter`: four i32 words. `seed`: i64, low word first. Gives four i32 words.
SmallVector<Value, 4> emitPhilox(OpBuilder &builder, Location loc, ArrayRef<Value> counter, Value seed);

/// The halves for `columns` columns in order, as i16: those of the first half of the columns, then those of the rest.
/// `counter`: four i64 words whose lower halves count. `columns` is a multiple of 2·kColumnsPerCounter.
std::pair<Value, Value> emitPhiloxColumns(OpBuilder &builder, Location loc, ArrayRef<Value> counter, Value seed,
                                          int64_t columns);

/// Half number `column` mod kColumnsPerCounter of the generator's output for `counter`, as i32: for a single column
/// (i64).
Value emitPhiloxHalf(OpBuilder &builder, Location loc, ArrayRef<Value> counter, Value seed, Value column);

} // namespace mlir::resid::arithmetic

#endif // RESID_CODEGEN_ARITHMETIC_PHILOX_H
