// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers in the arrays of calls.

#pragma once

#include "Block.h"

enum class Rows {
  Plain,    // as they mostly are
  Hard,     // finite ones that norms have rare branches for, or whose sums show their order most
  NotFinite // with NaN, infinities, and sums that overflow
};

/// Numbers with all bits of their type's mantissa, the same for the same seed. Rows of matrices are of that kind; each
/// seed begins with another hard row, so that two matrices have different ones. `width`: of the rows of a matrix.
/// Numbers per row are small, as the statistics of norms are, and like those per column always plain: one that is not
/// would be in all results.
std::vector<unsigned char> makeNumbers(const Array &array, int64_t count, int64_t width, uint64_t seed, Rows rows);
/// Element `index` of an array in `memory`.
double getNumber(const Array &array, const void *memory, int64_t index);
