// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the functions of column_sums.mlir with the order of sums down the rows, written plainly from
// docs/numerics.md, bit by bit: over numbers of rows around the edges of chains, groups and lanes, and 1 to 64 threads.

#include "column_sums.h"
#include "narrow_floats.h"
#include "resid_runtime.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

namespace {

int failures = 0, comparisons = 0;

//===------------------------------------------- numbers ----------------------------------------------------------===//

/// Numbers of different size and sign, zeros of both signs among them.
struct Generator {
  uint64_t state;
  double next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto number = static_cast<int32_t>(state >> 33) - (1 << 30);
    if (number % 61 == 0)
      return number % 2 ? -0.0 : 0.0;
    return std::ldexp(number, -30 + static_cast<int>(state >> 20 & 15) - 8);
  }
};

template <typename T, typename Convert> std::vector<T> fill(int64_t count, uint64_t seed, const Convert &convert) {
  Generator generator{seed};
  std::vector<T> values(count);
  for (T &value : values)
    value = convert(generator.next());
  return values;
}

std::vector<float> fillF32(int64_t count, uint64_t seed) {
  return fill<float>(count, seed, [](double value) { return static_cast<float>(value); });
}

//===------------------------------------------- the order --------------------------------------------------------===//

/// The sum of `rows` terms with an old value, unrounded. `T` is the type of the terms.
template <typename T> double sumDown(int64_t rows, const std::function<T(int64_t)> &term, double old) {
  int64_t size = 8;
  while (size < 512 && rows >= 512 * (2 * size))
    size *= 2;
  int64_t groups = (rows + size - 1) / size;
  double lanes[64] = {};
  for (int64_t group = 0; group < groups; ++group) {
    int64_t first = group * size, last = std::min(first + size, rows);
    T large = 0;
    for (int64_t block = first; block < last; block += 64) {
      T medium = 0;
      for (int64_t chain = block; chain < std::min(block + 64, last); chain += 8) {
        T small = 0;
        for (int64_t row = chain; row < std::min(chain + 8, last); ++row)
          small += term(row);
        medium += small;
      }
      large += medium;
    }
    lanes[64 * group / groups] += large;
  }
  for (int step = 32; step > 0; step /= 2)
    for (int lane = 0; lane < step; ++lane)
      lanes[lane] += lanes[lane + step];
  return lanes[0] + old;
}

//===------------------------------------------- calls ------------------------------------------------------------===//

template <typename T>
void compare(const char *name, int64_t rows, int64_t width, const std::vector<T> &expected,
             const std::function<resid_status(const resid_ctx *, std::vector<T> &)> &call) {
  for (int32_t threads : {1, 2, 3, 7, 64}) {
    resid_thread_pool *pool = nullptr;
    if (threads > 1 && resid_thread_pool_create(threads, &pool) != RESID_OK)
      return;
    resid_ctx context;
    resid_ctx_init(&context, pool);
    std::vector<T> found(expected.size());
    resid_status status = call(&context, found);
    ++comparisons;
    if (status != RESID_OK || memcmp(found.data(), expected.data(), expected.size() * sizeof(T)) != 0) {
      ++failures;
      printf("%s, %ldx%ld, %d threads: other bits, status %d\n", name, static_cast<long>(rows),
             static_cast<long>(width), threads, status);
    }
    resid_thread_pool_destroy(pool);
  }
}

/// The result for each column: `old` where there is no row.
template <typename T, typename Result>
std::vector<Result> sumColumns(int64_t rows, const std::vector<Result> &old,
                               const std::function<T(int64_t, int64_t)> &term,
                               const std::function<double(Result)> &widen, const std::function<Result(double)> &round) {
  std::vector<Result> results = old;
  for (size_t column = 0; column < old.size() && rows > 0; ++column)
    results[column] = round(
        sumDown<T>(rows, [&](int64_t row) { return term(row, static_cast<int64_t>(column)); }, widen(old[column])));
  return results;
}

const auto widenFloat = [](float value) -> double { return value; };
const auto roundToFloat = [](double value) { return static_cast<float>(value); };
const auto keep = [](double value) { return value; };

void testPlain(int64_t rows, int64_t width) {
  auto x = fillF32(rows * width, 1), old = fillF32(width, 2);
  auto term = [&](int64_t row, int64_t column) { return x[row * width + column]; };
  compare<float>("plain", rows, width, sumColumns<float, float>(rows, old, term, widenFloat, roundToFloat),
                 [&](const resid_ctx *ctx, std::vector<float> &out) {
                   return plain(ctx, x.data(), rows, width, old.data(), width, out.data());
                 });
}

void testKnown(int64_t rows) {
  constexpr int64_t width = 100;
  auto x = fillF32(rows * width, 3);
  auto term = [&](int64_t row, int64_t column) { return x[row * width + column]; };
  std::vector<float> old(width);
  compare<float>("known", rows, width, sumColumns<float, float>(rows, old, term, widenFloat, roundToFloat),
                 [&](const resid_ctx *ctx, std::vector<float> &out) { return known(ctx, x.data(), rows, out.data()); });
}

void testDoubles(int64_t rows) {
  constexpr int64_t width = 37;
  auto x = fill<double>(rows * width, 4, keep), old = fill<double>(width, 5, keep);
  auto term = [&](int64_t row, int64_t column) { return x[row * width + column]; };
  compare<double>("doubles", rows, width, sumColumns<double, double>(rows, old, term, keep, keep),
                  [&](const resid_ctx *ctx, std::vector<double> &out) {
                    return doubles(ctx, x.data(), rows, old.data(), out.data());
                  });
}

void testProducts(int64_t rows, int64_t width) {
  auto x = fill<uint16_t>(rows * width, 6, toBF16), y = fill<uint16_t>(rows * width, 7, toF16);
  auto old = fillF32(width, 8);
  auto term = [&](int64_t row, int64_t column) {
    return fromBF16(x[row * width + column]) * fromF16(y[row * width + column]);
  };
  compare<float>("products", rows, width, sumColumns<float, float>(rows, old, term, widenFloat, roundToFloat),
                 [&](const resid_ctx *ctx, std::vector<float> &out) {
                   return products(ctx, x.data(), rows, width, y.data(), rows, width, old.data(), width, out.data());
                 });
}

void testSeveral(int64_t count) {
  constexpr int64_t width = 70;
  int64_t rows = count * 3;
  auto x = fill<uint16_t>(rows * width, 9, toBF16);
  auto w = fillF32(rows, 10);
  auto old = fill<double>(width, 11, keep);
  auto term = [&](int64_t row, int64_t column) { return fromBF16(x[row * width + column]) * w[row]; };
  auto square = [&](int64_t row, int64_t column) {
    double value = term(row, column);
    return value * value;
  };
  auto sums = sumColumns<float, float>(rows, std::vector<float>(width), term, widenFloat, roundToFloat);
  auto squares = sumColumns<double, double>(rows, old, square, keep, keep);
  compare<float>("several", rows, width, sums, [&](const resid_ctx *ctx, std::vector<float> &out) -> resid_status {
    std::vector<double> other(width);
    std::vector<float> y(rows * width);
    resid_status status =
        several(ctx, x.data(), count, w.data(), count, old.data(), out.data(), other.data(), y.data());
    for (int64_t i = 0; i < rows * width; ++i)
      if (y[i] != term(i / width, i % width))
        return RESID_INTERNAL;
    return memcmp(other.data(), squares.data(), width * sizeof(double)) ? RESID_INTERNAL : status;
  });
}

/// The norm's result is taken from the function itself, and its sums have to be those of that result.
void testNorm(int64_t rows) {
  constexpr int64_t width = 200;
  auto x = fillF32(rows * width, 12), gamma = fillF32(width, 13);
  std::vector<float> y(rows * width), unused(width);
  resid_ctx context;
  resid_ctx_init(&context, nullptr);
  of_norm(&context, x.data(), rows, gamma.data(), y.data(), unused.data());
  auto term = [&](int64_t row, int64_t column) { return y[row * width + column]; };
  auto sums = sumColumns<float, float>(rows, std::vector<float>(width), term, widenFloat, roundToFloat);
  compare<float>("of_norm", rows, width, sums, [&](const resid_ctx *ctx, std::vector<float> &out) -> resid_status {
    std::vector<float> again(rows * width);
    resid_status status = of_norm(ctx, x.data(), rows, gamma.data(), again.data(), out.data());
    return again == y ? status : RESID_INTERNAL;
  });
}

void testNarrow(int64_t rows) {
  constexpr int64_t width = 65;
  auto x = fillF32(rows * width, 14);
  auto narrow = fill<uint16_t>(rows * width, 15, toBF16), oldBF16 = fill<uint16_t>(width, 16, toBF16),
       oldF16 = fill<uint16_t>(width, 17, toF16);
  auto term = [&](int64_t row, int64_t column) { return x[row * width + column]; };
  auto narrowTerm = [&](int64_t row, int64_t column) { return fromBF16(narrow[row * width + column]); };
  compare<uint16_t>("to_bf16", rows, width, sumColumns<float, uint16_t>(rows, oldBF16, term, fromBF16, toBF16),
                    [&](const resid_ctx *ctx, std::vector<uint16_t> &out) {
                      return to_bf16(ctx, x.data(), rows, oldBF16.data(), out.data());
                    });
  compare<uint16_t>("to_f16", rows, width, sumColumns<float, uint16_t>(rows, oldF16, narrowTerm, fromF16, toF16),
                    [&](const resid_ctx *ctx, std::vector<uint16_t> &out) {
                      return to_f16(ctx, narrow.data(), rows, oldF16.data(), out.data());
                    });
}

} // namespace

int main() {
  for (int64_t rows : {0, 1, 2, 7, 8, 9, 65, 504, 505, 513, 1031, 8191, 8192, 8199, 32785}) {
    for (int64_t width : {0, 1, 63, 130})
      testPlain(rows, width);
    testKnown(rows);
    testDoubles(rows);
    testProducts(rows, 67);
    testSeveral(rows / 3);
    testNorm(rows);
    testNarrow(rows);
  }
  // Groups of 64 and of 512 rows, which have all three kinds of chains.
  testPlain(65536 + 13, 3);
  testProducts(262144 + 75, 1);
  printf("%d comparisons, %d failures\n", comparisons, failures);
  return failures != 0;
}
