// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Residual add, dropout and norms of one row in vector registers, with the operations and the order of sums of
// docs/numerics.md, so with the bits of compiled code. One template for all: what is computed, on which type, and how
// the row moves. Finite rows only: rows whose squares overflow are not done again in another scale.

#ifndef RESID_BENCHMARKS_HANDWRITTEN_ROWKERNEL_H
#define RESID_BENCHMARKS_HANDWRITTEN_ROWKERNEL_H

#include "benchmarks/handwritten/Philox.h"

#include <type_traits>

namespace resid::handwritten::RESID_ISA {

enum class Norm { Layer, RMS };

/// How results are stored: into the cache; past it, from a copy of the row in scratch memory; the same with prefetches
/// of what comes next.
enum class Stores { Plain, Streamed, StreamedAhead };

/// In which order rows are worked on: each for itself; the last phase of a row together with the first of the next one;
/// two rows in one last phase, which reads gamma and beta once (RowOrders.h). Wide: each for itself, kept in f32.
enum class Rows { Single, Pipelined, Paired, Wide };

/// y = norm(s); with `add`, s = x + f, or s = x + dropout(f).
template <typename TypeT, Norm normKind, bool hasAdd, bool hasDropout, Stores storesKind, Rows rowsKind = Rows::Single>
struct KernelTraits {
  using Type = TypeT;
  static constexpr Norm norm = normKind;
  static constexpr bool add = hasAdd, dropout = hasDropout;
  static constexpr bool streams = storesKind != Stores::Plain, prefetches = storesKind == Stores::StreamedAhead;
  static constexpr Rows rows = rowsKind;
};

constexpr int64_t kBlock = 1024, kLargestWidth = 16384;
constexpr float kEpsilon = 1e-5f;
constexpr double kDropoutProbability = 0.1;

/// The arrays of a call: rows times width, but gamma and beta of one row.
template <typename Element> struct Arrays {
  const Element *x, *f, *gamma, *beta;
  Element *y, *s;
  int64_t width;
};

RESID_INLINE Chunk zeroChunk() { return {{setZero(), setZero(), setZero(), setZero()}}; }

RESID_INLINE void addSquares(Chunk &total, const Chunk &chunk) {
  for (int i = 0; i < kParts; ++i)
    total.part[i] = multiplyAdd(chunk.part[i], chunk.part[i], total.part[i]);
}

RESID_INLINE Chunk subtract(const Chunk &chunk, Vector value) {
  Chunk result;
  for (int i = 0; i < kParts; ++i)
    result.part[i] = subtract(chunk.part[i], value);
  return result;
}

RESID_INLINE Chunk clearAbsent(const Chunk &chunk, const Presence &there) {
  Chunk result;
  for (int i = 0; i < kParts; ++i)
    result.part[i] = clearAbsent(chunk.part[i], there.part[i]);
  return result;
}

/// Lines of an array that are read soon.
template <int level, typename Element> RESID_INLINE void prefetchChunk(const Element *from) {
  for (unsigned offset = 0; offset < kChunk * sizeof(Element); offset += 64)
    __builtin_prefetch(reinterpret_cast<const char *>(from) + offset, 0, level);
}

template <typename Traits> class RowKernel {
  using Type = typename Traits::Type;
  using Element = typename Type::Element;

public:
  /// What scratch memory holds.
  static constexpr bool isWide = Traits::rows == Rows::Wide;
  using Kept = std::conditional_t<isWide, float, Element>;

  /// Scratch memory is of one row; `philox` is looked at with dropout only.
  RowKernel(const Arrays<Element> &arrays, const Philox *philox, Kept *scratch)
      : arrays(arrays), philox(philox), scratch(scratch), width(arrays.width),
        tail(Type::presence(arrays.width % kChunk)) {}

  /// Inlined with all of its parts, save for the rare one, so that pointers and sizes live in registers.
  __attribute__((always_inline)) void run(int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      int64_t start = row * width;
      storeRow(start, getStatistics(row, start, [](int64_t) {}));
    }
    if constexpr (Traits::streams)
      _mm_sfence();
  }

protected:
  struct Statistics {
    float mean = 0, correction = 0, factor = 0;
  };

  /// The phases but the last. In the first one `also` is called for each chunk that is there as a whole.
  template <typename Also>
  __attribute__((always_inline)) Statistics getStatistics(int64_t row, int64_t start, const Also &also) {
    if constexpr (Traits::norm == Norm::Layer)
      return layerStatistics(row, start, also);
    else
      return rmsStatistics(row, start, also);
  }

  /// Calls body(sums, column, presence or nothing) for all chunks of the row; the sums are ordered as S(t) is. Where
  /// the lanes are more than a chunk, each block is swept once for each part of them.
  template <int count, typename Body>
  RESID_INLINE void sumRow(int64_t width, const Presence &tail, float (&result)[count], const Body &body) {
    Chunk totals[kSweeps][count], sums[count];
    for (auto &sweep : totals)
      for (Chunk &total : sweep)
        total = zeroChunk();
    for (int64_t block = 0; block < width; block += kBlock) {
      int64_t end = block + kBlock < width ? block + kBlock : width;
      for (int64_t sweep = 0; sweep < kSweeps; ++sweep) {
        for (Chunk &sum : sums)
          sum = zeroChunk();
        int64_t column = block + sweep * kChunk;
#pragma clang loop unroll(disable)
        for (; column + kChunk <= end; column += kLanes)
          body(sums, column, All());
        if (column < end)
          body(sums, column, tail);
        for (int i = 0; i < count; ++i)
          addTo(totals[sweep][i], sums[i]);
      }
    }
    for (int i = 0; i < count; ++i) {
      for (int64_t sweep = 1; sweep < kSweeps; ++sweep)
        addTo(totals[0][i], totals[sweep][i]);
      result[i] = Type::reduce(totals[0][i]);
    }
  }

  /// Stands for a chunk of which all columns are there.
  struct All {};
  RESID_INLINE typename Type::Packed load(const Element *from, All) { return Type::loadPacked(from); }
  RESID_INLINE typename Type::Packed load(const Element *from, const Presence &there) {
    return Type::loadPacked(from, there);
  }
  RESID_INLINE void store(Element *to, const typename Type::Packed &packed, All) { Type::storePacked(to, packed); }
  RESID_INLINE void store(Element *to, const typename Type::Packed &packed, const Presence &there) {
    Type::storePacked(to, packed, there);
  }
  template <typename Also> RESID_INLINE void callForAll(const Also &also, int64_t column, All) { also(column); }
  template <typename Also> RESID_INLINE void callForAll(const Also &, int64_t, const Presence &) {}
  RESID_INLINE Chunk clear(const Chunk &chunk, All) { return chunk; }
  RESID_INLINE Chunk clear(const Chunk &chunk, const Presence &there) { return clearAbsent(chunk, there); }

  /// Where the row that the norm sees can be read again after the first phase, from its first column on.
  __attribute__((always_inline)) const Kept *rowAgain(int64_t start) const {
    if constexpr (!Traits::add)
      return arrays.x + start;
    else if constexpr (Traits::streams)
      return scratch;
    else
      return arrays.s + start;
  }
  template <typename Part> RESID_INLINE Chunk loadAgain(const Kept *from, const Part &there) {
    if constexpr (isWide)
      return F32::loadPacked(from); // columns that are not there are zeros
    else
      return Type::unpack(load(from, there));
  }

  template <typename Part>
  __attribute__((always_inline)) Chunk loadInput(int64_t row, int64_t start, int64_t column, const Part &there) {
    int64_t at = start + column;
    if constexpr (Traits::prefetches) {
      constexpr int64_t ahead = 2048 / sizeof(Element);
      prefetchChunk<3>(arrays.x + at + ahead);
      if constexpr (Traits::add)
        prefetchChunk<3>(arrays.f + at + ahead);
    }
    Chunk x = Type::unpack(load(arrays.x + at, there));
    if constexpr (!Traits::add)
      return x;
    Chunk f = Type::unpack(load(arrays.f + at, there));
    if constexpr (Traits::dropout)
      f = drop(f, row, column);
    addTo(x, f);
    typename Type::Packed sum = Type::pack(x);
    if constexpr (isWide)
      F32::storePacked(scratch + column, Type::unpack(sum));
    else
      store(Traits::streams ? scratch + column : arrays.s + at, sum, there);
    return Type::unpack(sum);
  }

  __attribute__((always_inline)) Chunk drop(Chunk f, int64_t row, int64_t column) const {
    constexpr uint32_t threshold = static_cast<uint32_t>(kDropoutProbability * 65536 + 0.5);
    Type::keep(philox->generate(row, column), threshold, 65536.0f / static_cast<float>(65536 - threshold), f);
    return Type::unpack(Type::pack(f));
  }

  /// The next row's inputs, while this row is worked on: the first array in one phase, the second in another.
  __attribute__((always_inline)) void prefetchNext(const Element *array, int64_t start, int64_t column) const {
    if constexpr (Traits::prefetches)
      prefetchChunk<2>(array + start + width + column);
  }

  template <typename Also>
  __attribute__((always_inline)) Statistics layerStatistics(int64_t row, int64_t start, const Also &also) {
    float n = static_cast<float>(width), sum[1], centred[2];
    sumRow(width, tail, sum, [&](Chunk *sums, int64_t column, const auto &there) {
      addTo(sums[0], loadInput(row, start, column, there));
      callForAll(also, column, there);
    });
    Statistics statistics;
    statistics.mean = sum[0] / n;
    const Vector mean = setAll(statistics.mean);
    const Kept *again = rowAgain(start);
    sumRow(width, tail, centred, [&](Chunk *sums, int64_t column, const auto &there) {
      prefetchNext(arrays.x, start, column);
      Chunk d = clear(subtract(loadAgain(again + column, there), mean), there);
      addTo(sums[0], d);
      addSquares(sums[1], d);
    });
    float e = centred[0] / n, q = centred[1] / n;
    float variance = __builtin_fmaf(-e, e, q);
    if (__builtin_expect(!(__builtin_fabsf(q) < __builtin_inff() && e * e <= q * 0.25f), 0))
      variance = sumCentredSquares(again, width, statistics.mean, e) / n;
    statistics.correction = e;
    statistics.factor = 1.0f / __builtin_sqrtf(variance + kEpsilon);
    return statistics;
  }

  /// The rare case in which the correction of the mean is large.
  __attribute__((noinline)) static float sumCentredSquares(const Kept *again, int64_t width, float mean,
                                                           float correction) {
    float squares[1];
    const Presence tail = Type::presence(width % kChunk);
    sumRow(width, tail, squares, [&](Chunk *sums, int64_t column, const auto &there) {
      Chunk d = subtract(loadAgain(again + column, there), setAll(mean));
      addSquares(sums[0], clear(subtract(d, setAll(correction)), there));
    });
    return squares[0];
  }

  template <typename Also>
  __attribute__((always_inline)) Statistics rmsStatistics(int64_t row, int64_t start, const Also &also) {
    float squares[1];
    sumRow(width, tail, squares, [&](Chunk *sums, int64_t column, const auto &there) {
      addSquares(sums[0], loadInput(row, start, column, there));
      callForAll(also, column, there);
    });
    Statistics statistics;
    statistics.factor = 1.0f / __builtin_sqrtf(squares[0] / static_cast<float>(width) + kEpsilon);
    return statistics;
  }

  /// Gamma and beta of a chunk.
  struct Affine {
    Chunk gamma, beta;
  };
  template <typename Part> __attribute__((always_inline)) Affine loadAffine(int64_t column, const Part &there) const {
    Affine affine;
    affine.gamma = Type::unpack(load(arrays.gamma + column, there));
    if constexpr (Traits::norm == Norm::Layer)
      affine.beta = Type::unpack(load(arrays.beta + column, there));
    return affine;
  }

  RESID_INLINE typename Type::Packed normalize(Chunk value, const Affine &affine, const Statistics &statistics) {
    const Vector factor = setAll(statistics.factor);
    for (int i = 0; i < kParts; ++i) {
      if constexpr (Traits::norm == Norm::Layer) {
        Vector d = subtract(value.part[i], setAll(statistics.mean));
        Vector normalized = multiply(subtract(d, setAll(statistics.correction)), factor);
        value.part[i] = multiplyAdd(normalized, affine.gamma.part[i], affine.beta.part[i]);
      } else {
        value.part[i] = multiply(multiply(value.part[i], factor), affine.gamma.part[i]);
      }
    }
    return Type::pack(value);
  }

  template <typename Part>
  __attribute__((always_inline)) void storeChunk(int64_t start, int64_t column, const Statistics &statistics,
                                                 const Part &there) {
    Chunk value = loadAgain(rowAgain(start) + column, there);
    store(arrays.y + start + column, normalize(value, loadAffine(column, there), statistics), there);
    if constexpr (Traits::add && Traits::streams)
      store(arrays.s + start + column, Type::pack(value), there);
  }

  __attribute__((always_inline)) void streamChunk(int64_t start, int64_t column, const Affine &affine,
                                                  const Statistics &statistics) {
    const Kept *from = rowAgain(start) + column;
    if constexpr (isWide) {
      Chunk value = F32::loadPacked(from);
      Type::streamPacked(arrays.y + start + column, normalize(value, affine, statistics));
      Type::streamPacked(arrays.s + start + column, Type::pack(value));
    } else {
      typename Type::Packed packed = Type::loadPacked(from);
      Type::streamPacked(arrays.y + start + column, normalize(Type::unpack(packed), affine, statistics));
      if constexpr (Traits::add)
        Type::streamPacked(arrays.s + start + column, packed);
    }
  }

  /// The last phase. Streamed rows begin with what stands before the first whole line of memory.
  __attribute__((always_inline)) void storeRow(int64_t start, const Statistics &statistics) {
    int64_t column = 0;
    if constexpr (Traits::streams) {
      column = columnsBeforeLine(arrays.y + start);
      if (column)
        storeChunk(start, 0, statistics, Type::presence(column));
    }
#pragma clang loop unroll(disable)
    for (; column + kChunk <= width; column += kChunk) {
      prefetchNext(Traits::add ? arrays.f : arrays.x, start, column);
      if constexpr (Traits::streams)
        streamChunk(start, column, loadAffine(column, All()), statistics);
      else
        storeChunk(start, column, statistics, All());
    }
    if (column < width)
      storeChunk(start, column, statistics, Type::presence(width - column));
  }

  __attribute__((always_inline)) int64_t columnsBeforeLine(const Element *row) const {
    auto bytes = static_cast<int64_t>(-reinterpret_cast<intptr_t>(row) & 63);
    int64_t columns = bytes / static_cast<int64_t>(sizeof(Element));
    return columns < width ? columns : width;
  }

  Arrays<Element> arrays;
  const Philox *philox;
  Kept *scratch;
  int64_t width;
  Presence tail;
};

} // namespace resid::handwritten::RESID_ISA

#endif // RESID_BENCHMARKS_HANDWRITTEN_ROWKERNEL_H
