// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one task of attention keeps in scratch memory: its slot. Not: what fills it.

#ifndef RESID_CODEGEN_CPU_ATTENTION_ATTENTIONMEMORY_H
#define RESID_CODEGEN_CPU_ATTENTION_ATTENTIONMEMORY_H

#include "codegen/attention/AttentionShape.h"
#include "codegen/cpu/choice/CPUTarget.h"

namespace mlir::resid::cpu {

/// A unit of work is a block of so many rows of one head of keys. A row is a query of one of the heads that read it.
inline constexpr int64_t kUnitRows = 256;
/// Rows that scores are kept of at a time: at least those of any micro-kernel.
inline constexpr int64_t kScoreRows = 16;

/// Elements in whole cache lines, of which there are an odd number: rows so far apart do not compete for the same
/// places of a cache.
int64_t alignToOddLines(int64_t elements, int64_t bytes);
/// Of one element.
int64_t getBytes(Type element);

/// Offsets in bytes; everything begins with a cache line.
struct AttentionMemory {
  explicit AttentionMemory(const attention::AttentionShape &shape);

  /// The columns of values in whole panels of 16.
  int64_t paddedSize;
  /// Elements from one row of queries, or of scores, to the next.
  int64_t queryStride, scoreStride;
  /// Elements of one panel of keys (16 keys, all columns), and of values (16 columns, all keys of a chunk).
  int64_t keyPanel, valuePanel;

  int64_t queries, keys, values, scores, sums, states, maxima, totals;
  int64_t bytes;

  static kernels::Extent countUnits(OpBuilder &builder, Location loc, const attention::AttentionShape &shape);
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ATTENTION_ATTENTIONMEMORY_H
