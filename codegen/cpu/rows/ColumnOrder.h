// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which columns of a step stand in which of its vectors: the choice, and what gets from one order to the other. Not:
// the order of sums, which belongs to columns and is the same either way.

#ifndef RESID_CODEGEN_CPU_ROWS_COLUMNORDER_H
#define RESID_CODEGEN_CPU_ROWS_COLUMNORDER_H

#include "codegen/builder/Code.h"
#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::resid::cpu {

/// A step is several parts, each a vector of as many lanes.
enum class ColumnOrder {
  Consecutive, // part p holds the columns from p · lanes on
  EvenOdd,     // parts 2h and 2h + 1 hold the even and the odd ones of 2 · lanes columns from 2h · lanes on
};

/// The order in which a phase moves its columns with the fewest shuffles, on parts of `lanes` columns.
ColumnOrder chooseColumnOrder(rows::PhaseOp phase, int64_t lanes, const CPUTarget &target);

/// The elements of `first` and `second`, one after the other, in even and odd places; and back.
std::pair<Value, Value> separateEvenOdd(Code &builder, Value first, Value second);
std::pair<Value, Value> mergeEvenOdd(Code &builder, Value even, Value odd);

/// The upper half of a word.
constexpr int32_t kUpperHalf = int32_t(0xFFFF0000);

/// Vectors of 16-bit elements from and to one of twice as many, in which theirs take turns; in memory, the even ones
/// are the lower halves of 32-bit words.
Value joinHalves(Code &builder, Value even, Value odd);
/// joinHalves() of one vector, whose lower half has the even elements and whose upper half the odd ones.
Value interleaveHalves(Code &builder, Value halves);
/// The same for elements in 32-bit words: the even ones in the lower halves of theirs, the odd ones in the upper
/// halves. What the other halves hold does not matter.
Value blendHalves(Code &builder, Value evenWords, Value oddWords);
/// The even and the odd elements as 32-bit words. They stand in the lower or the upper halves, and the rest is 0.
std::pair<Value, Value> splitToLowerHalves(Code &builder, Value joined);
std::pair<Value, Value> splitToUpperHalves(Code &builder, Value joined);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_COLUMNORDER_H
