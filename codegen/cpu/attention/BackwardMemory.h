// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one task of the backward of attention keeps in scratch memory: its slot. Not: what fills it.

#ifndef RESID_CODEGEN_CPU_ATTENTION_BACKWARDMEMORY_H
#define RESID_CODEGEN_CPU_ATTENTION_BACKWARDMEMORY_H

#include "codegen/cpu/attention/AttentionMemory.h"

namespace mlir::resid::cpu {

/// Queries whose scores are made again at a time.
inline constexpr int64_t kBackwardRows = 64;

/// Offsets in bytes; everything begins with a cache line. A unit of work is a head of keys.
struct BackwardMemory {
  explicit BackwardMemory(const attention::AttentionShape &shape);

  /// The columns of queries and keys in whole panels of 16.
  int64_t paddedSize;
  /// Elements from one row to the next: of queries, of gradients of results, of scores, and of queries or gradients
  /// that are turned, so that a row is a column of them.
  int64_t queryStride, gradientStride, scoreStride, turnedStride;
  /// Elements of one panel: of keys and of values (16 keys, all columns), of keys by columns (16 columns, all keys of a
  /// chunk), and of scores (16 keys, all queries of a block).
  int64_t keyPanel, valuePanel, columnPanel, scorePanel;

  /// For a block of queries.
  int64_t queries, gradients, turnedQueries, turnedGradients, maxima, totals, means, panels, sums;
  int64_t blockBytes;

  /// For each chunk of keys, after that, counted from the chunk's beginning. The sums for keys and values are turned.
  int64_t keys, values, columns, weights, scoreGradients, slopes, keySums, valueSums;
  int64_t chunkBytes;

  static kernels::Extent countUnits(OpBuilder &builder, Location loc, const attention::AttentionShape &shape);
  /// Of a slot.
  kernels::Extent countBytes(OpBuilder &builder, Location loc, const attention::AttentionShape &shape) const;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ATTENTION_BACKWARDMEMORY_H
