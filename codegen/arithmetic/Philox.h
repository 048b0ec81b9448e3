// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The random number generator of dropout, Philox4x32-10, as arithmetic. Not: where its numbers are used.

#ifndef RESID_CODEGEN_ARITHMETIC_PHILOX_H
#define RESID_CODEGEN_ARITHMETIC_PHILOX_H

#include "mlir/IR/Builders.h"

namespace mlir::resid::arithmetic {

/// Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011).
/// `counter`: four i32 words. `seed`: i64, low word first. Gives four i32 words.
SmallVector<Value, 4> emitPhilox(OpBuilder &builder, Location loc, ArrayRef<Value> counter, Value seed);

/// The halves for 8·count columns in order, as i16: those of the first 4·count columns, then those of the rest.
/// `counter`: four i64 words whose lower halves count, the first one of the columns div 8. `count` is even.
std::pair<Value, Value> emitPhiloxColumns(OpBuilder &builder, Location loc, ArrayRef<Value> counter, Value seed,
                                          int64_t count);

/// Half number `column` mod 8 of the generator's output for `counter`, as i32: for a single column (i64).
Value emitPhiloxHalf(OpBuilder &builder, Location loc, ArrayRef<Value> counter, Value seed, Value column);

} // namespace mlir::resid::arithmetic

#endif // RESID_CODEGEN_ARITHMETIC_PHILOX_H
