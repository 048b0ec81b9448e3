// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of work in which rows are not done one by one, with the operations and so the bits of RowKernel.h. For add +
// norms, past the cache, of rows that begin at cache lines and consist of whole chunks: what is asked is whether they
// pay.

#ifndef RESID_BENCHMARKS_HANDWRITTEN_ROWORDERS_H
#define RESID_BENCHMARKS_HANDWRITTEN_ROWORDERS_H

#include "benchmarks/handwritten/RowKernel.h"

#include <utility>

namespace resid::handwritten::RESID_ISA {

template <typename Traits> class RowOrder : RowKernel<Traits> {
  using Base = RowKernel<Traits>;
  using typename Base::All;
  using typename Base::Kept;
  using typename Base::Statistics;

public:
  /// How much scratch memory two rows of that width take. Equal columns of the two are not a multiple of a page apart.
  static constexpr int64_t getScratchElements(int64_t width) { return 2 * width + kBetween; }

  RowOrder(const Arrays<typename Traits::Type::Element> &arrays, Kept *scratch)
      : Base(arrays, nullptr, scratch), second(arrays, nullptr, scratch + arrays.width + kBetween) {}

  __attribute__((always_inline)) void run(int64_t first, int64_t last) {
    if (first >= last)
      return;
    if constexpr (Traits::rows == Rows::Pipelined)
      runPipelined(first, last);
    else
      runPairs(first, last);
    _mm_sfence();
  }

private:
  static constexpr int64_t kBetween = 3 * kChunk;

  /// The other row at work, with scratch memory of its own.
  struct Other : Base {
    using Base::Base;
    using Base::getStatistics;
    using Base::scratch;
    using Base::storeRow;
    using Base::streamChunk;
  } second;

  /// The scratch rows change places at each row: that of this object is always the one that is filled.
  __attribute__((always_inline)) void runPipelined(int64_t first, int64_t last) {
    int64_t width = this->width;
    Statistics statistics = this->getStatistics(first, first * width, [](int64_t) {});
    for (int64_t row = first + 1; row < last; ++row) {
      std::swap(this->scratch, second.scratch);
      const Statistics before = statistics;
      statistics = this->getStatistics(row, row * width, [&](int64_t column) {
        second.streamChunk((row - 1) * width, column, this->loadAffine(column, All()), before);
      });
    }
    this->storeRow((last - 1) * width, statistics);
  }

  __attribute__((always_inline)) void runPairs(int64_t first, int64_t last) {
    int64_t width = this->width, row = first;
    for (; row + 2 <= last; row += 2) {
      int64_t start = row * width;
      const Statistics one = this->getStatistics(row, start, [](int64_t) {});
      const Statistics two = second.getStatistics(row + 1, start + width, [](int64_t) {});
#pragma clang loop unroll(disable)
      for (int64_t column = 0; column < width; column += kChunk) {
        this->prefetchNext(this->arrays.f, start + width, column);
        this->prefetchNext(this->arrays.f, start + 2 * width, column);
        auto affine = this->loadAffine(column, All());
        this->streamChunk(start, column, affine, one);
        second.streamChunk(start + width, column, affine, two);
      }
    }
    if (row < last)
      this->storeRow(row * width, this->getStatistics(row, row * width, [](int64_t) {}));
  }
};

} // namespace resid::handwritten::RESID_ISA

#endif // RESID_BENCHMARKS_HANDWRITTEN_ROWORDERS_H
