// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which the columns of a row are added up: S(t) of docs/numerics.md. Every target keeps to it, so that all
// have the same bits. Not: how a target holds the lanes.

#ifndef RESID_CODEGEN_ROWS_SUMORDER_H
#define RESID_CODEGEN_ROWS_SUMORDER_H

#include <cstdint>

namespace mlir::resid::rows {

/// Column j is added to lane j mod kLanes. The lanes start at +0, and columns that are absent add nothing.
constexpr int64_t kLanes = 64;
/// After this many columns, and at the end of the row, the lanes are added to a second set of lanes. Then lane l takes
/// lane l+32, l+16, l+8, l+4, l+2 and l+1, in this order; lane 0 is the sum.
constexpr int64_t kBlockColumns = 1024;

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_SUMORDER_H
