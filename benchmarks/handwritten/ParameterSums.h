// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of gamma and beta by hand: sums down the rows in the order of docs/numerics.md, to which a kernel adds
// the terms of one row after the other. Columns stand as they do in chunks of the element type. Not: the terms
// (BackwardKernel.h), nor tasks (Backward.cpp).

#ifndef RESID_BENCHMARKS_HANDWRITTEN_PARAMETERSUMS_H
#define RESID_BENCHMARKS_HANDWRITTEN_PARAMETERSUMS_H

#include "benchmarks/handwritten/ColumnSums.h"

namespace resid::handwritten::RESID_ISA {

/// Of `parameters` parameters, whose columns stand one after the other: gamma, or gamma and beta.
template <int parameters> class ParameterSums {
public:
  /// `memory` is that of the call before, which spares the pages.
  ParameterSums(int64_t rows, int64_t width, std::vector<double> &memory)
      : rows(rows), stride((width + kChunk - 1) / kChunk * kChunk), columns(parameters * stride),
        size(groupRows(Order::Cascade, rows)), groups((rows + size - 1) / size), lanes(std::min(groups, kRowLanes)),
        memory(memory) {
    memory.resize(std::max(memory.size(), static_cast<size_t>(lanes * columns)));
  }

  int64_t countLanes() const { return lanes; }
  /// Floats that a task needs.
  int64_t countLevels() const { return 3 * columns; }

  /// Calls addRows(low, high, gamma, beta) for each chain of rows of a lane, which adds their terms to the two.
  template <typename AddRows>
  __attribute__((always_inline)) void addLane(int64_t lane, float *levels, const AddRows &addRows) const {
    int64_t first = firstGroup(lane, groups), last = firstGroup(lane + 1, groups);
    for (int64_t group = first; group < last; ++group) {
      int64_t low = group * size, high = std::min(low + size, rows);
      for (int64_t begin = low; begin < high; begin += kChain) {
        int64_t next = std::min(begin + kChain, high);
        std::fill(levels, levels + columns, 0.0f);
        addRows(begin, next, levels, levels + stride);
        endChain(begin - low, next == high, levels, memory.data() + lane * columns, group == first);
      }
    }
  }

  /// Stores the sums, as `Type`.
  template <typename Type> void finish(typename Type::Element *gamma, typename Type::Element *beta, int64_t width) {
    LaneTable table(memory.data(), groups, columns);
    for (int64_t at = 0; at < columns; at += kChunk) {
      Chunk sums;
      for (int part = 0; part < kParts; ++part)
        sums.part[part] = table.sum(at + part * kVectorLanes);
      int64_t column = at < stride ? at : at - stride, count = std::min(width - column, kChunk);
      Type::storePacked((at < stride ? gamma : beta) + column, Type::pack(sums), Type::presence(count));
    }
  }

private:
  /// What becomes of the sum of a chain that begins at row `place` of its group.
  void endChain(int64_t place, bool endsGroup, float *chain, double *total, bool isFirstGroup) const {
    float *block = chain + columns, *group = block + columns;
    bool hasChain = place % 64 != 0, hasBlock = place >= 64, endsBlock = place % 64 == 56;
    for (int64_t at = 0; at < columns; at += kVectorLanes) {
      Vector sum = loadFloats(chain + at);
      if (hasChain)
        sum = loadFloats(block + at) + sum;
      if ((endsGroup || endsBlock) && hasBlock)
        sum = loadFloats(group + at) + sum;
      if (endsGroup)
        storeDoubles(total + at, isFirstGroup ? widen(sum) : loadDoubles(total + at) + widen(sum));
      else
        storeFloats((endsBlock ? group : block) + at, sum);
    }
  }

  int64_t rows, stride, columns, size, groups, lanes;
  std::vector<double> &memory;
};

} // namespace resid::handwritten::RESID_ISA

#endif // RESID_BENCHMARKS_HANDWRITTEN_PARAMETERSUMS_H
