// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the programs of row_blocks.mlir by blocks of rows, and kernel by kernel: the same bits, on any number of
// threads. Results and scratch memory end right before a page that may not be touched, or begin right after one.

#include "blocks.h"
#include "guarded_scratch.h"
#include "narrow_floats.h"
#include "resid_runtime.h"
#include "whole.h"

#include <cstdio>
#include <random>
#include <vector>

namespace {

/// An array of small random values.
template <typename T> struct Input : std::vector<T> {
  Input(int64_t count, uint32_t seed, T (*convert)(double) = nullptr) : std::vector<T>(count) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> values(-2, 2);
    for (T &value : *this)
      value = convert ? convert(values(random)) : static_cast<T>(values(random));
  }
};

uint16_t makeBF16(double value) { return toBF16(value); }
uint16_t makeF16(double value) { return toF16(value); }

/// The results of a call, in memory between guard pages.
template <typename T> class Results {
public:
  Results(std::initializer_list<int64_t> counts, Place place) {
    for (int64_t count : counts) {
      Arena &arena = arenas[bytes.size()];
      bytes.push_back(count * sizeof(T));
      places.push_back(arena.place(1, bytes.back(), place));
      memset(places.back(), 0xFF, bytes.back());
    }
  }
  T *operator[](size_t i) { return reinterpret_cast<T *>(places[i]); }
  std::vector<char> take() const {
    std::vector<char> all;
    for (size_t i = 0; i < places.size(); ++i)
      all.insert(all.end(), places[i], places[i] + bytes[i]);
    return all;
  }

private:
  static Arena arenas[2];
  std::vector<size_t> bytes;
  std::vector<char *> places;
};
template <typename T> Arena Results<T>::arenas[2] = {Arena(1, kMostBytes), Arena(1, kMostBytes)};

int64_t calls = 0, failures = 0;

/// Zeros, numbers whose squares are too large, too small, and equal ones in some rows, beside others that stay.
void makeHard(std::vector<float> &numbers, int64_t rows, int64_t width) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < width; ++i) {
      float &number = numbers[row * width + i];
      float hard[] = {0.0f, number * 1e30f, number * 1e-30f, 3.0f};
      number = row % 7 < 4 ? hard[row % 7] : number;
    }
}

/// `run(byBlocks, ctx, results)` runs a program.
template <typename T, typename Run>
void compare(const char *name, int64_t rows, std::initializer_list<int64_t> counts, Run run,
             const std::vector<resid_ctx> &contexts) {
  for (Place place : {Place::Start, Place::End}) {
    scratchPlace = place;
    Results<T> whole(counts, place);
    resid_status expectedStatus = run(false, &contexts[0], whole);
    std::vector<char> expected = whole.take();
    for (size_t i = 0; i < contexts.size(); ++i) {
      Results<T> blocks(counts, place);
      resid_status status = run(true, &contexts[i], blocks);
      ++calls;
      if (status == RESID_OK && expectedStatus == RESID_OK && blocks.take() == expected)
        continue;
      ++failures;
      printf("%s: %lld rows, context %zu: other bits, or status %d\n", name, static_cast<long long>(rows), i, status);
    }
  }
}

void check(int64_t rows, const std::vector<resid_ctx> &contexts) {
  {
    Input<float> x(rows * 100, 1), h(rows * 37, 2), w(3700, 3), b(100, 4), gamma(100, 5);
    auto run = [&](bool byBlocks, const resid_ctx *ctx, Results<float> &y) {
      return (byBlocks ? blocks_post : whole_post)(ctx, x.data(), rows, h.data(), rows, w.data(), b.data(),
                                                   gamma.data(), 11, y[0]);
    };
    compare<float>("post", rows, {rows * 100}, run, contexts);
  }
  {
    Input<uint16_t> x(rows * 72, 1, makeBF16), h(rows * 72, 2, makeBF16), w(72 * 48, 3, makeBF16),
        gamma(72, 4, makeBF16);
    auto run = [&](bool byBlocks, const resid_ctx *ctx, Results<uint16_t> &y) {
      return (byBlocks ? blocks_pre : whole_pre)(ctx, x.data(), rows, h.data(), rows, w.data(), gamma.data(), y[0],
                                                 y[1]);
    };
    compare<uint16_t>("pre", rows, {rows * 48, rows * 72}, run, contexts);
  }
  {
    Input<double> x(rows * 120, 1), w(1600, 2), gamma(40, 3);
    auto run = [&](bool byBlocks, const resid_ctx *ctx, Results<double> &y) {
      return (byBlocks ? blocks_both : whole_both)(ctx, x.data(), rows, w.data(), gamma.data(), y[0], y[1]);
    };
    compare<double>("both", rows, {rows * 120, rows * 120}, run, contexts);
  }
  {
    Input<uint16_t> x(rows * 64, 1, makeF16), w(2 * 64 * 64, 2, makeF16), gamma(64, 3, makeF16);
    auto run = [&](bool byBlocks, const resid_ctx *ctx, Results<uint16_t> &y) {
      return (byBlocks ? blocks_layers : whole_layers)(ctx, x.data(), rows, w.data(), gamma.data(), y[0]);
    };
    compare<uint16_t>("layers", rows, {rows * 64}, run, contexts);
  }
  {
    Input<float> x(rows * 45, 1), w(1600, 2), gamma(40, 3);
    auto run = [&](bool byBlocks, const resid_ctx *ctx, Results<float> &y) {
      return (byBlocks ? blocks_strided : whole_strided)(ctx, x.data(), rows, 45, w.data(), gamma.data(), y[0], 40);
    };
    compare<float>("strided", rows, {rows * 40}, run, contexts);
  }
  {
    Input<float> x(rows * 4 * 45, 1), w(1600, 2), gamma(40, 3);
    auto run = [&](bool byBlocks, const resid_ctx *ctx, Results<float> &y) {
      return (byBlocks ? blocks_batches : whole_batches)(ctx, x.data(), rows, 45, w.data(), gamma.data(), y[0]);
    };
    compare<float>("batches", rows, {rows * 160}, run, contexts);
  }
  {
    Input<float> x(rows * 1200, 1), y(rows * 300, 2), b(rows * 4, 3), c(rows * 16, 4), w(24 * 1200, 5), gamma(300, 6);
    makeHard(x, rows, 1200);
    auto call = [&](auto *function, const resid_ctx *ctx, Results<float> &out, bool isInPlace) {
      if (isInPlace && rows > 0)
        memcpy(out[0], x.data(), x.size() * sizeof(float));
      return function(ctx, isInPlace ? out[0] : x.data(), rows, y.data(), rows, b.data(), rows, c.data(), rows,
                      w.data(), gamma.data(), out[0], out[1]);
    };
    auto compareWith = [&](const char *name, auto *function, bool isInPlace) {
      auto run = [&](bool isOther, const resid_ctx *ctx, Results<float> &out) {
        return call(isOther ? function : whole_streams, ctx, out, isOther && isInPlace);
      };
      compare<float>(name, rows, {rows * 1200, rows * 300}, run, contexts);
    };
    compareWith("streams", blocks_streams, /*isInPlace=*/false);
    compareWith("streams in place", blocks_streams, /*isInPlace=*/true);
    compareWith("streams in place, whole", whole_streams, /*isInPlace=*/true);
  }
  {
    Input<double> x(rows * 72, 1), w(40 * 72, 2), gamma(40, 3);
    auto run = [&](bool byBlocks, const resid_ctx *ctx, Results<double> &y) {
      return (byBlocks ? blocks_sums : whole_sums)(ctx, x.data(), rows, w.data(), gamma.data(), y[0], y[1]);
    };
    compare<double>("sums", rows, {rows * 40, 40}, run, contexts);
  }
  {
    Input<float> x(rows * 4 * 45, 1), w(1600, 2), gamma(40, 3);
    auto run = [&](bool byBlocks, const resid_ctx *ctx, Results<float> &y) {
      return (byBlocks ? blocks_sums_of_batches : whole_sums_of_batches)(ctx, x.data(), rows, 45, w.data(),
                                                                         gamma.data(), y[0], y[1]);
    };
    compare<float>("sums of batches", rows, {rows * 160, 40}, run, contexts);
  }
}

} // namespace

int main() {
  const Threads one(1), two(2), five(5);
  std::vector<resid_ctx> contexts = {one.context, two.context, five.context};
  for (int64_t rows : {0, 1, 127, 128, 129, 300, 1280, 2100})
    check(rows, contexts);
  printf("%d calls, %d failures\n", int(calls), int(failures));
  return failures != 0;
}
