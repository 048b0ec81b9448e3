// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Column sums by hand, in the order of docs/numerics.md and in others that it was chosen from. Portable vectors of the
// compiler. Eight rows are read together, so that memory holds one partial sum per column and eight rows. Not: who
// times them (native/ColumnSums.cpp).

#ifndef RESID_BENCHMARKS_HANDWRITTEN_COLUMNSUMS_H
#define RESID_BENCHMARKS_HANDWRITTEN_COLUMNSUMS_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace resid::handwritten {

#ifdef __AVX512F__
constexpr int kVector = 16;
#else
constexpr int kVector = 8;
#endif
typedef float Floats __attribute__((vector_size(4 * kVector)));
typedef double Doubles __attribute__((vector_size(8 * kVector)));
typedef uint16_t Halves __attribute__((vector_size(2 * kVector)));
typedef uint32_t Words __attribute__((vector_size(4 * kVector)));

template <typename VectorT, typename T> inline VectorT loadAs(const T *from) {
  VectorT result;
  memcpy(&result, from, sizeof(result));
  return result;
}
template <typename VectorT, typename T> inline void storeAs(T *to, VectorT value) { memcpy(to, &value, sizeof(value)); }

inline Floats loadFloats(const float *from) { return loadAs<Floats>(from); }
/// bf16
inline Floats loadFloats(const uint16_t *from) {
  Words words = __builtin_convertvector(loadAs<Halves>(from), Words) << 16;
  return loadAs<Floats>(&words);
}
inline float loadFloat(const float *from) { return *from; }
inline float loadFloat(const uint16_t *from) {
  uint32_t word = static_cast<uint32_t>(*from) << 16;
  return loadAs<float>(&word);
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

constexpr int64_t kChain = 8, kLanes = 64;

inline int64_t groupRows(Order order, int64_t rows) {
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

/// What a chain of 8 rows begins with, and what its sum becomes.
enum class Begin { Zero, Chain };
enum class End { Chain, Store, Add, AddAll, Lane, FirstLane };

/// Works on the rows of one lane after the other. `width` is a multiple of 64.
template <typename Element> class ColumnSums {
public:
  ColumnSums(const Element *x, int64_t rows, int64_t width, Order order)
      : x(x), rows(rows), width(width), order(order), size(groupRows(order, rows)), groups((rows + size - 1) / size),
        lanes(std::min(groups, kLanes)), memory(lanes * width) {}

  int64_t countLanes() const { return lanes; }

  /// `buffer`: three rows.
  void addLane(int64_t lane, float *buffer) {
    float *chain = buffer, *block = chain + width, *group = block + width;
    double *total = memory.data() + lane * width;
    int64_t first = firstGroup(lane), last = firstGroup(lane + 1);
    if (order == Order::Wide)
      return addWide(total, first * size, std::min(last * size, rows));
    for (int64_t i = first; i < last; ++i)
      addGroup(i * size, std::min((i + 1) * size, rows), i == first, chain, block, group, total);
  }

  void finish(float *result) {
    const double *table[kLanes] = {};
    std::vector<double> absent(lanes < kLanes ? width : 0, 0.0);
    std::fill(table, table + kLanes, absent.data());
    for (int64_t lane = 0; lane < lanes; ++lane)
      table[groups >= kLanes ? lane : kLanes * lane / groups] = memory.data() + lane * width;
    for (int64_t column = 0; column < width; column += kVector)
      storeAs(result + column, __builtin_convertvector(tree<0, 1>(table, column), Floats));
  }

private:
  int64_t firstGroup(int64_t lane) const { return groups >= kLanes ? (lane * groups + kLanes - 1) / kLanes : lane; }

  template <int lane, int stride> static Doubles tree(const double *const *table, int64_t column) {
    if constexpr (stride == kLanes)
      return loadAs<Doubles>(table[lane] + column);
    else
      return tree<lane, 2 * stride>(table, column) + tree<lane + stride, 2 * stride>(table, column);
  }

  /// Adds up to 8 rows and passes their sum on: within registers where it ends a chain.
  template <typename Pass> void addRows(int64_t low, int64_t high, const float *start, const Pass &pass) const {
    const Element *row = x + low * width;
    constexpr int64_t parts = 4;
    if (high - low == kChain)
      for (int64_t column = 0; column < width; column += parts * kVector) {
        Floats sums[parts];
        for (int64_t part = 0; part < parts; ++part)
          sums[part] = start ? loadFloats(start + column + part * kVector) : Floats{};
        for (int64_t i = 0; i < kChain; ++i) {
          const Element *from = row + i * width + column;
          __builtin_prefetch(from + kChain * width);
          if (sizeof(Element) * parts * kVector > 64)
            __builtin_prefetch(from + kChain * width + parts * kVector / 2);
          for (int64_t part = 0; part < parts; ++part)
            sums[part] += loadFloats(from + part * kVector);
        }
        for (int64_t part = 0; part < parts; ++part)
          pass(column + part * kVector, sums[part]);
      }
    else
      for (int64_t column = 0; column < width; column += kVector) {
        Floats sum = start ? loadFloats(start + column) : Floats{};
        for (int64_t i = 0; i < high - low; ++i)
          sum += loadFloats(row + i * width + column);
        pass(column, sum);
      }
  }

  static void addTo(double *total, int64_t column, Floats sum, bool isFirst) {
    Doubles wide = __builtin_convertvector(sum, Doubles);
    storeAs(total + column, isFirst ? wide : loadAs<Doubles>(total + column) + wide);
  }

  void addGroup(int64_t low, int64_t high, bool isFirst, float *chain, float *block, float *group, double *total) {
    bool cascades = order == Order::Cascade;
    for (int64_t begin = low; begin < high; begin += kChain) {
      int64_t next = std::min(begin + kChain, high), place = begin - low;
      bool hasChain = place % 64 != 0 && cascades, hasBlock = place >= 64 && cascades;
      const float *start = !cascades && begin > low ? chain : nullptr;
      if (next == high) {
        addRows(begin, next, start, [&](int64_t column, Floats sum) {
          if (hasChain)
            sum = loadFloats(block + column) + sum;
          if (hasBlock)
            sum = loadFloats(group + column) + sum;
          addTo(total, column, sum, isFirst);
        });
      } else if (!cascades) {
        addRows(begin, next, start, [&](int64_t column, Floats sum) { storeAs(chain + column, sum); });
      } else if (place % 64 == 56) {
        addRows(begin, next, nullptr, [&](int64_t column, Floats sum) {
          sum = loadFloats(block + column) + sum;
          storeAs(group + column, hasBlock ? loadFloats(group + column) + sum : sum);
        });
      } else {
        addRows(begin, next, nullptr, [&](int64_t column, Floats sum) {
          storeAs(block + column, hasChain ? loadFloats(block + column) + sum : sum);
        });
      }
    }
  }

  void addWide(double *total, int64_t low, int64_t high) {
    std::fill(total, total + width, 0.0);
    for (int64_t begin = low; begin < high; begin += kChain)
      for (int64_t column = 0; column < width; column += kVector) {
        Doubles sum = loadAs<Doubles>(total + column);
        for (int64_t row = begin; row < std::min(begin + kChain, high); ++row)
          sum += __builtin_convertvector(loadFloats(x + row * width + column), Doubles);
        storeAs(total + column, sum);
      }
  }

  const Element *x;
  int64_t rows, width;
  Order order;
  int64_t size, groups, lanes;
  std::vector<double> memory;
};

} // namespace resid::handwritten

#endif // RESID_BENCHMARKS_HANDWRITTEN_COLUMNSUMS_H
