// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which columns of the last step of a row are present. All rows of a kernel are equally wide, so vectors of which all
// columns or none are present are told while compiling where the width is known. For others there are masks, made
// before the rows, or where they are used if they would take the registers of columns. Not: what is done with absent
// columns (VectorBody.h).

#ifndef RESID_CODEGEN_CPU_ROWS_ROWTAIL_H
#define RESID_CODEGEN_CPU_ROWS_ROWTAIL_H

#include "codegen/builder/Code.h"
#include <map>
#include <optional>
#include <tuple>

namespace mlir::resid::cpu {

/// The first columns of a step.
struct PresentColumns {
  /// How many, as i64. May be negative, or more than a step.
  Value count;
  /// `count` where the width is known. It is then positive, and less than a chunk.
  std::optional<int64_t> known = {};

  /// Whether it is known that all of the columns [first, first + length) are present.
  bool areAll(int64_t first, int64_t length) const { return known && first + length <= *known; }
  /// Whether it is known that none of those from `first` on is.
  bool areNone(int64_t first) const { return known && first >= *known; }
};

class RowTail {
public:
  /// `width` (i64) is defined in the first block of the function. `hasMaskRegisters`: of
  /// the processor.
  RowTail(Code &builder, Value width, bool hasMaskRegisters);

  /// The width of rows where it is known.
  std::optional<int64_t> getKnownWidth() const { return knownWidth; }
  /// What is present of a step that begins `lane` columns after the last multiple of `unit`, which is a power of two.
  PresentColumns getPresent(int64_t unit, int64_t lane);
  /// Per lane (i1), which of the columns first, first + stride, … of a step are present.
  Value getMask(const PresentColumns &present, int64_t first, int64_t stride, int64_t lanes);

private:
  Value getNumber(Value count);
  Value createMask(Value number, int64_t first, int64_t stride, int64_t lanes);

  Code &builder;
  Value width;
  bool hasMaskRegisters;
  std::optional<int64_t> knownWidth;
  std::map<std::pair<int64_t, int64_t>, PresentColumns> steps;
  /// By count: the same as 32 bits.
  DenseMap<Value, Value> numbers;
  std::map<std::tuple<void *, int64_t, int64_t, int64_t>, Value> masks;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_ROWTAIL_H
