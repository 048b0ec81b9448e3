// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One query of an attention: its result by the definition, and how far another way of computing may be off. Knows no
// op.

#ifndef RESID_REFERENCE_ATTENTIONROW_H
#define RESID_REFERENCE_ATTENTIONROW_H

#include "reference/DropoutMask.h"
#include "reference/Numbers.h"
#include <cmath>
#include <vector>

namespace mlir::resid::reference {

/// A query of one head, and what it attends to. Keys are rows of `size` numbers, as the query is, and values of
/// `valueSize`.
struct AttentionRow {
  const double *query, *keys, *values;
  int64_t size, valueSize;
  /// Keys before the one, and from the other on, are absent.
  int64_t begin, end;
  /// The first key of a chunk; others begin at multiples of their size further on.
  int64_t origin;
  /// Rounded to the arithmetic type already; a cap of 0 is none.
  double scale, cap;
  /// At most one of the masks is there; `maskStride` leads from key to key.
  const double *addends = nullptr;
  const int64_t *choices = nullptr;
  int64_t maskStride = 0;
  /// A score without a value; null where there is none.
  const double *sink = nullptr;
  /// Which weights are dropped in this row, the `index`-th of all; null where all are kept.
  const DropoutMask *dropout = nullptr;
  int64_t index = 0;

  bool hasSink() const { return sink && *sink != -HUGE_VAL; }
  /// By what the weight of a key is multiplied after its sum.
  double getFactor(int64_t key) const { return !dropout ? 1.0 : dropout->keeps(index, key) ? dropout->scale : 0.0; }
};

/// What a row gives: the result before it is rounded to storage, and the statistics. Or a bound for each of these.
struct AttendedRow {
  std::vector<double> values;
  double max = 0.0, sum = 0.0;
};

/// By the definition to the last bit, f32 and f64 being the arithmetic types there are.
AttendedRow attendExactly(const AttentionRow &row, FloatKind arithmetic);

/// In double with compensated sums. Weights below the smallest normal number of `arithmetic` are 0 all the same, since
/// values may be infinite.
AttendedRow attendWidely(const AttentionRow &row, FloatKind arithmetic);

/// How a bound is to be found.
struct AttentionJudge {
  FloatKind arithmetic, result;
  /// How many roundings there are, on both sides together, for each one of the definition.
  double roundings;
};
/// How far the results for `row` may be from `attended`, by bounds::attention.
AttendedRow boundAttention(const AttentionRow &row, const AttendedRow &attended, const AttentionJudge &judge);

/// Of each key: by how much its score may be off, and r, where its weight divided by the sum of all weights is off by a
/// factor between exp(-r) and exp(r). `sink`: that of the sink. All are Inf where the arithmetic type may overflow.
struct WeightErrors {
  std::vector<double> scores, weights;
  double sink;
};
WeightErrors boundWeights(const AttentionRow &row, const AttentionJudge &judge);

} // namespace mlir::resid::reference

#endif
