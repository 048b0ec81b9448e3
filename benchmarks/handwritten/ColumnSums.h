// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Column sums by hand, in the order of docs/numerics.md and in others that it was chosen from. Eight rows are read
// together, so that memory holds one partial sum per column and eight rows. Not: tasks (ColumnSums.cpp).

#ifndef RESID_BENCHMARKS_HANDWRITTEN_COLUMNSUMS_H
#define RESID_BENCHMARKS_HANDWRITTEN_COLUMNSUMS_H

#include "benchmarks/handwritten/Elements.h"

#include <algorithm>
#include <vector>

namespace resid::handwritten::RESID_ISA {

typedef double Doubles __attribute__((vector_size(8 * kVectorLanes)));
typedef uint16_t Words __attribute__((vector_size(2 * kVectorLanes)));
typedef uint32_t DoubleWords __attribute__((vector_size(4 * kVectorLanes)));

RESID_INLINE Doubles loadDoubles(const double *from) {
  Doubles result;
  std::memcpy(&result, from, sizeof(result));
  return result;
}
RESID_INLINE void storeDoubles(double *to, Doubles value) { std::memcpy(to, &value, sizeof(value)); }
RESID_INLINE Doubles widen(Vector value) { return __builtin_convertvector(value, Doubles); }

/// bf16, with the columns in order: sums are stored as f32, where even and odd ones would have to be put back.
RESID_INLINE Vector loadFloats(const uint16_t *from) {
  Words words;
  std::memcpy(&words, from, sizeof(words));
  DoubleWords bits = __builtin_convertvector(words, DoubleWords) << 16;
  Vector result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

/// How the terms of a lane, a contiguous range of rows, are added up.
enum class Order {
  Cascade, ///< chains of 8 rows, 64 and 512, groups of U rows; groups in f64: the order of docs/numerics.md
  Running, ///< one f32 sum per column of all rows: no two threads can share the work
  PerLane, ///< one f32 sum per column of each 64th of the rows, these in f64
  Group32, ///< f32 sums of so many rows, these in f64
  Group64,
  Group128,
  Group256,
  Wide, ///< each term in f64
};

constexpr int64_t kChain = 8, kRowLanes = 64;

RESID_INLINE int64_t groupRows(Order order, int64_t rows) {
  switch (order) {
  case Order::Running:
    return rows;
  case Order::PerLane:
    return (rows + 63) / 64;
  case Order::Group32:
    return 32;
  case Order::Group64:
    return 64;
  case Order::Group128:
    return 128;
  case Order::Group256:
    return 256;
  case Order::Wide:
    return 8;
  case Order::Cascade:
    break;
  }
  int64_t size = kChain;
  while (size < 512 && rows >= 2 * size * 512)
    size *= 2;
  return size;
}

/// Of the lanes that have groups; there are at most kRowLanes of them.
RESID_INLINE int64_t firstGroup(int64_t lane, int64_t groups) {
  return groups >= kRowLanes ? (lane * groups + kRowLanes - 1) / kRowLanes : lane;
}

/// The sum of some columns over the lanes from `lane` on, `stride` apart.
template <int lane, int stride> RESID_INLINE Doubles addLanes(const double *const *table, int64_t column) {
  if constexpr (stride == kRowLanes)
    return loadDoubles(table[lane] + column);
  else
    return addLanes<lane, 2 * stride>(table, column) + addLanes<lane + stride, 2 * stride>(table, column);
}

/// Where the rows of f64 of all lanes are. Those between the lanes that have groups are zeros.
class LaneTable {
public:
  LaneTable(const double *memory, int64_t groups, int64_t length)
      : absent(groups < kRowLanes ? static_cast<size_t>(length) : 0, 0.0) {
    std::fill(rows, rows + kRowLanes, absent.data());
    for (int64_t lane = 0; lane < std::min(groups, kRowLanes); ++lane)
      rows[groups >= kRowLanes ? lane : kRowLanes * lane / groups] = memory + lane * length;
  }
  Vector sum(int64_t column) const { return __builtin_convertvector(addLanes<0, 1>(rows, column), Vector); }

private:
  std::vector<double> absent;
  const double *rows[kRowLanes];
};

/// Works on the rows of one lane after the other. `width` is a multiple of 64.
template <typename Element> class ColumnSums {
public:
  /// `memory` is that of the call before, which spares the pages.
  ColumnSums(const Element *x, int64_t rows, int64_t width, Order order, std::vector<double> &memory)
      : x(x), rows(rows), width(width), order(order), size(groupRows(order, rows)), groups((rows + size - 1) / size),
        lanes(std::min(groups, kRowLanes)), memory(memory) {
    memory.resize(std::max(memory.size(), static_cast<size_t>(lanes * width)));
  }

  int64_t countLanes() const { return lanes; }

  /// `buffer`: three rows.
  void addLane(int64_t lane, float *buffer) {
    float *chain = buffer, *block = chain + width, *group = block + width;
    double *total = memory.data() + lane * width;
    int64_t first = firstGroup(lane, groups), last = firstGroup(lane + 1, groups);
    if (order == Order::Wide)
      return addWide(total, first * size, std::min(last * size, rows));
    for (int64_t i = first; i < last; ++i)
      addGroup(i * size, std::min((i + 1) * size, rows), i == first, chain, block, group, total);
  }

  void finish(float *result) {
    LaneTable table(memory.data(), groups, width);
    for (int64_t column = 0; column < width; column += kVectorLanes)
      storeFloats(result + column, table.sum(column));
  }

private:
  /// Adds up to 8 rows and passes their sum on: within registers where it ends a chain.
  template <typename Pass> void addRows(int64_t low, int64_t high, const float *start, const Pass &pass) const {
    const Element *row = x + low * width;
    constexpr int64_t parts = 4;
    if (high - low == kChain)
      for (int64_t column = 0; column < width; column += parts * kVectorLanes) {
        Vector sums[parts];
        for (int64_t part = 0; part < parts; ++part)
          sums[part] = start ? loadFloats(start + column + part * kVectorLanes) : setZero();
        for (int64_t i = 0; i < kChain; ++i) {
          const Element *from = row + i * width + column;
          __builtin_prefetch(from + kChain * width);
          if (sizeof(Element) * parts * kVectorLanes > 64)
            __builtin_prefetch(from + kChain * width + parts * kVectorLanes / 2);
          for (int64_t part = 0; part < parts; ++part)
            sums[part] += loadFloats(from + part * kVectorLanes);
        }
        for (int64_t part = 0; part < parts; ++part)
          pass(column + part * kVectorLanes, sums[part]);
      }
    else
      for (int64_t column = 0; column < width; column += kVectorLanes) {
        Vector sum = start ? loadFloats(start + column) : setZero();
        for (int64_t i = 0; i < high - low; ++i)
          sum += loadFloats(row + i * width + column);
        pass(column, sum);
      }
  }

  static void addTo(double *total, int64_t column, Vector sum, bool isFirst) {
    Doubles wide = widen(sum);
    storeDoubles(total + column, isFirst ? wide : loadDoubles(total + column) + wide);
  }

  void addGroup(int64_t low, int64_t high, bool isFirst, float *chain, float *block, float *group, double *total) {
    bool cascades = order == Order::Cascade;
    for (int64_t begin = low; begin < high; begin += kChain) {
      int64_t next = std::min(begin + kChain, high), place = begin - low;
      bool hasChain = place % 64 != 0 && cascades, hasBlock = place >= 64 && cascades;
      const float *start = !cascades && begin > low ? chain : nullptr;
      if (next == high) {
        addRows(begin, next, start, [&](int64_t column, Vector sum) {
          if (hasChain)
            sum = loadFloats(block + column) + sum;
          if (hasBlock)
            sum = loadFloats(group + column) + sum;
          addTo(total, column, sum, isFirst);
        });
      } else if (!cascades) {
        addRows(begin, next, start, [&](int64_t column, Vector sum) { storeFloats(chain + column, sum); });
      } else if (place % 64 == 56) {
        addRows(begin, next, nullptr, [&](int64_t column, Vector sum) {
          sum = loadFloats(block + column) + sum;
          storeFloats(group + column, hasBlock ? loadFloats(group + column) + sum : sum);
        });
      } else {
        addRows(begin, next, nullptr, [&](int64_t column, Vector sum) {
          storeFloats(block + column, hasChain ? loadFloats(block + column) + sum : sum);
        });
      }
    }
  }

  void addWide(double *total, int64_t low, int64_t high) {
    std::fill(total, total + width, 0.0);
    for (int64_t begin = low; begin < high; begin += kChain)
      for (int64_t column = 0; column < width; column += kVectorLanes) {
        Doubles sum = loadDoubles(total + column);
        for (int64_t row = begin; row < std::min(begin + kChain, high); ++row)
          sum += widen(loadFloats(x + row * width + column));
        storeDoubles(total + column, sum);
      }
  }

  const Element *x;
  int64_t rows, width;
  Order order;
  int64_t size, groups, lanes;
  std::vector<double> &memory;
};

} // namespace resid::handwritten::RESID_ISA

#endif // RESID_BENCHMARKS_HANDWRITTEN_COLUMNSUMS_H
