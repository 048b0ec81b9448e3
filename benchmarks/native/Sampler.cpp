// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the harness needs beside kernels: timing of calls without an interpreter in between, memory in large pages,
// numbers, contexts with threads. Does not own: what is measured, and how samples are judged.

#include "runtime/resid_runtime.h"

#include <array>
#include <cmath>
#include <cstring>
#include <ctime>
#include <sys/mman.h>
#include <utility>

namespace {

constexpr int kMostArguments = 48;

/// One call: a function that takes `count` pointers or 64-bit integers and answers a status.
struct Call {
  void *function;
  int64_t count;
  int64_t arguments[kMostArguments];
};

template <size_t> using Argument = int64_t;

template <size_t... indices> int32_t invokeWith(const Call &call, std::index_sequence<indices...>) {
  auto function = reinterpret_cast<int32_t (*)(Argument<indices>...)>(call.function);
  return function(call.arguments[indices]...);
}

template <size_t count> int32_t invokeCount(const Call &call) {
  return invokeWith(call, std::make_index_sequence<count>());
}

template <size_t... counts> constexpr auto makeInvokers(std::index_sequence<counts...>) {
  return std::array<int32_t (*)(const Call &), sizeof...(counts)>{&invokeCount<counts>...};
}

constexpr auto kInvokers = makeInvokers(std::make_index_sequence<kMostArguments + 1>());

uint64_t nextRandom(uint64_t &state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 40;
}

uint16_t roundToBF16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

double readClock(bool ownTime) {
  timespec now;
  clock_gettime(ownTime ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

float loadNumber(const void *array, int64_t index, int64_t size) {
  uint32_t bits = 0;
  if (size == 2)
    bits = static_cast<uint32_t>(static_cast<const uint16_t *>(array)[index]) << 16;
  else
    std::memcpy(&bits, static_cast<const char *>(array) + 4 * index, 4);
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

} // namespace

extern "C" {

/// Makes the `length` calls one after the other, `repeats` times over. Answers the nanoseconds of one repetition, or
/// the first status that is not RESID_OK, which is negative. `ownTime`: the processor time of this thread, which for
/// work of one thread is the time that passes, less the turns of other processes.
RESID_API double bench_time(const Call *calls, int64_t length, int64_t repeats, int32_t ownTime) {
  double start = readClock(ownTime);
  for (int64_t i = 0; i < repeats; ++i)
    for (int64_t c = 0; c < length; ++c)
      if (int32_t status = kInvokers[static_cast<size_t>(calls[c].count)](calls[c]))
        return status;
  return (readClock(ownTime) - start) / static_cast<double>(repeats);
}

/// What bench_time costs: a function of as many arguments as a kernel that does nothing.
RESID_API int32_t bench_nothing(const resid_ctx *, const void *, int64_t, const void *, int64_t, const void *,
                                const void *, void *) {
  return RESID_OK;
}

/// Memory at a multiple of 2 MiB, in large pages where the system has them; NULL where it has none.
RESID_API void *bench_allocate(int64_t bytes) {
  constexpr int64_t kLargePage = 2 << 20;
  void *memory = mmap(nullptr, static_cast<size_t>(bytes + kLargePage), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  auto address = (reinterpret_cast<intptr_t>(memory) + kLargePage - 1) / kLargePage * kLargePage;
  auto *start = reinterpret_cast<void *>(address);
  madvise(start, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  std::memset(start, 0, static_cast<size_t>(bytes));
  return start;
}

/// `count` numbers between offset - 1 and offset + 1, as f32 or (size 2) bf16.
RESID_API void bench_fill(void *array, int64_t count, int64_t size, int64_t seed, double offset) {
  auto state = static_cast<uint64_t>(seed);
  for (int64_t i = 0; i < count; ++i) {
    auto value = static_cast<float>(static_cast<double>(nextRandom(state)) / 8388608.0 - 1.0 + offset);
    if (size == 2)
      static_cast<uint16_t *>(array)[i] = roundToBF16(value);
    else
      static_cast<float *>(array)[i] = value;
  }
}

/// The statistics of norms with epsilon, of each row, as a forward would hand them on; `rms` is 1 / (root mean square).
RESID_API void bench_statistics(const void *x, int64_t size, int64_t rows, int64_t width, double epsilon, float *mean,
                                float *correction, float *rstd, float *rms) {
  auto n = static_cast<double>(width);
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0, squares = 0;
    for (int64_t i = row * width; i < (row + 1) * width; ++i) {
      double value = loadNumber(x, i, size);
      sum += value;
      squares += value * value;
    }
    double average = sum / n;
    mean[row] = static_cast<float>(average);
    correction[row] = static_cast<float>(average - static_cast<double>(mean[row]));
    rstd[row] = static_cast<float>(1 / std::sqrt(squares / n - average * average + epsilon));
    rms[row] = static_cast<float>(1 / std::sqrt(squares / n + epsilon));
  }
}

/// Multiplies `count` numbers of f32 by a factor.
RESID_API void bench_scale(float *array, int64_t count, double factor) {
  for (int64_t i = 0; i < count; ++i)
    array[i] = static_cast<float>(static_cast<double>(array[i]) * factor);
}

/// A context of that many threads with those hints, for the rest of the process, which lends memory where that is asked
/// for or there are threads; NULL (one thread, no context) for 1, 0 and 0.
RESID_API const resid_ctx *bench_context(int32_t threads, int32_t hints, int32_t lendsMemory) {
  if (threads <= 1 && hints == 0 && !lendsMemory)
    return nullptr;
  resid_thread_pool *pool = nullptr;
  if (threads > 1 && resid_thread_pool_create(threads, &pool) != RESID_OK)
    return nullptr;
  auto *context = new resid_ctx RESID_CTX_INIT;
  if (pool || lendsMemory)
    resid_ctx_init(context, pool);
  context->hints = static_cast<uint32_t>(hints);
  return context;
}

/// The largest error of a column of `sums`, over the sum of the magnitudes of its terms.
RESID_API double bench_sum_error(const void *x, int64_t size, int64_t rows, int64_t width, const float *sums) {
  double largest = 0;
  for (int64_t column = 0; column < width; ++column) {
    double sum = 0, magnitudes = 0;
    for (int64_t row = 0; row < rows; ++row) {
      double term = loadNumber(x, row * width + column, size);
      sum += term;
      magnitudes += std::fabs(term);
    }
    largest = std::fmax(largest, std::fabs(sums[column] - sum) / magnitudes);
  }
  return largest;
}

/// The largest distance of two numbers at one place; infinite where it is none.
RESID_API double bench_distance(const void *left, const void *right, int64_t count, int64_t size) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    double distance = std::fabs(static_cast<double>(loadNumber(left, i, size)) - loadNumber(right, i, size));
    if (!(distance <= largest))
      largest = std::isfinite(distance) ? distance : INFINITY;
  }
  return largest;
}

/// 0 where `count` numbers of that size have the same bits, else 1 + the place of the first that has not. All NaNs
/// count as the same.
RESID_API int64_t bench_compare(const void *left, const void *right, int64_t count, int64_t size) {
  if (!std::memcmp(left, right, static_cast<size_t>(count * size)))
    return 0;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t a = 0, b = 0;
    std::memcpy(&a, static_cast<const char *>(left) + i * size, static_cast<size_t>(size));
    std::memcpy(&b, static_cast<const char *>(right) + i * size, static_cast<size_t>(size));
    uint32_t infinity = size == 2 ? 0x7F80u : 0x7F800000u, magnitude = size == 2 ? 0x7FFFu : 0x7FFFFFFFu;
    bool bothNaN = (a & magnitude) > infinity && (b & magnitude) > infinity;
    if (a != b && !bothNaN)
      return i + 1;
  }
  return 0;
}
}
