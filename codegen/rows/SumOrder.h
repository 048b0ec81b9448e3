// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The orders of sums: along a row, S(t) of docs/numerics.md, and down the rows. Every target keeps to them, so that all
// have the same bits. Not: how a target holds lanes and chains.

#ifndef RESID_CODEGEN_ROWS_SUMORDER_H
#define RESID_CODEGEN_ROWS_SUMORDER_H

#include <cstdint>

namespace mlir::resid::rows {

/// Column j is added to lane j mod kLanes. The lanes start at +0, and columns that are absent add nothing.
constexpr int64_t kLanes = 64;
/// A span of columns: after it, and at the end of the row, the lanes are added to a second set of lanes. Then lane l
/// takes lane l+32, l+16, l+8, l+4, l+2 and l+1, in this order; lane 0 is the sum.
constexpr int64_t kSpanColumns = 1024;

/// Down the rows, the terms of a column are added in f32 (f64 for f64) in chains of this many rows, from +0; as many
/// results of chains make a chain again, a run of 64 rows, and as many runs once more: a group.
constexpr int64_t kChainRows = 8;
constexpr int64_t kRunRows = kChainRows * kChainRows, kLargestGroup = kRunRows * kChainRows;
/// M rows are cut into groups of U rows, the last of which may be shorter: U is the largest power of two from
/// kChainRows to kLargestGroup with M >= U * kRowsPerGroupRow, else kChainRows.
constexpr int64_t kRowsPerGroupRow = 512;
/// Group i of G is added in f64 to lane floor(kSumLanes * i / G), in order of i; the lanes start at +0, and are then
/// added up as those of a row are. The old value is added in f64, and the result is rounded once.
constexpr int64_t kSumLanes = 64;

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_SUMORDER_H
