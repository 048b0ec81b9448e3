// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What results should be, in f64.

#pragma once

#include "Block.h"

/// The largest error of the results that the block's reference knows, in units of their type's precision times the
/// largest element of the row; infinite where a result is NaN and should not be. `arrays`: arguments and results, on
/// the host. For blocks with a reference.
double getLargestError(const Block &block, const std::vector<std::vector<unsigned char>> &arrays, int64_t rows,
                       int64_t width);
