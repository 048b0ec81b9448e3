// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which elements one dropout keeps, and by what it scales them. Knows no op.

#ifndef RESID_REFERENCE_DROPOUTMASK_H
#define RESID_REFERENCE_DROPOUTMASK_H

#include "dialect/DropoutScheme.h"
#include "reference/Philox.h"

namespace mlir::resid::reference {

struct DropoutMask {
  /// Columns whose random halves one counter gives.
  static constexpr int64_t kColumns = dropoutColumnsPerCall;

  std::array<uint32_t, 2> seed;
  uint32_t step, site;
  /// What the first row is in the counter, and the first column divided by kColumns.
  int64_t firstRow, firstBlock;
  /// So many rows stand in a group of so many of the whole.
  int64_t localRows, globalRows;
  int64_t threshold;
  /// Rounded as the arithmetic wants it.
  double scale;

  /// The counter's output for the columns from kColumns·block on, of which keepsOf() reads one.
  std::array<uint32_t, 4> draw(int64_t row, int64_t block) const {
    return philox4x32({static_cast<uint32_t>(firstBlock + block), static_cast<uint32_t>(getGlobalRow(row)), site, step},
                      seed);
  }
  int64_t getGlobalRow(int64_t row) const { return firstRow + row / localRows * globalRows + row % localRows; }
  bool keepsOf(const std::array<uint32_t, 4> &words, int64_t column) const {
    static_assert(kColumns == 8, "a word has the halves of two columns, the first one's below");
    int64_t index = column % kColumns;
    return ((words[index / 2] >> (16 * (index % 2))) & 0xffff) >= threshold;
  }
  bool keeps(int64_t row, int64_t column) const { return keepsOf(draw(row, column / kColumns), column); }
};

} // namespace mlir::resid::reference

#endif
