// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the kernels of stores-types.mlir with non-temporal stores beside their scalar path, on results that begin at any
// byte of a cache line between pages that fault, and compares all bytes of these pages: those of the results and those
// around them.

#include "nontemporal.h"
#include "resid_runtime.h"
#include "scalar.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kResults = 5;
constexpr int64_t kResultBytes[kResults] = {4, 4, 1, 8, 2};
int comparisons = 0, failures = 0;

/// An array between pages that fault, some bytes after the first or before the last; the rest is 0x5A.
class Array {
public:
  Array(int64_t bytes, int64_t offset) {
    int64_t page = sysconf(_SC_PAGESIZE), room = offset < 0 ? -offset : offset;
    inner = (bytes + room + page - 1) / page * page;
    base = static_cast<char *>(mmap(nullptr, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base == MAP_FAILED || (inner && mprotect(base + page, inner, PROT_READ | PROT_WRITE) != 0))
      abort();
    mapped = inner + 2 * page;
    first = base + page;
    start = offset < 0 ? first + inner + offset - bytes : first + offset;
    memset(first, 0x5A, inner);
  }
  Array(const Array &) = delete;
  ~Array() { munmap(base, mapped); }

  template <typename T> T *as() const { return reinterpret_cast<T *>(start); }
  bool isAs(const Array &other) const { return inner == other.inner && memcmp(first, other.first, inner) == 0; }

private:
  char *base, *first, *start;
  int64_t inner, mapped;
};

using Results = std::array<std::unique_ptr<Array>, kResults>;
using Offsets = std::array<int64_t, kResults>; // after the page before, or if negative before the page after

struct Inputs {
  int64_t rows, width;
  std::vector<float> x, f, gamma;
};

using Kernel = resid_status(const resid_ctx *, const Inputs &, const Results &);

#define RESULTS r[0]->as<float>(), r[1]->as<float>(), r[2]->as<bool>(), r[3]->as<double>(), r[4]->as<uint16_t>()
#define KERNEL(name)                                                                                                   \
  [](const resid_ctx *ctx, const Inputs &i, const Results &r) {                                                        \
    return name(ctx, i.x.data(), i.rows, i.width, i.f.data(), i.rows, i.width, i.gamma.data(), i.width, RESULTS);      \
  }
#define KERNEL_OF_KNOWN_WIDTH(name)                                                                                    \
  [](const resid_ctx *ctx, const Inputs &i, const Results &r) {                                                        \
    return name(ctx, i.x.data(), i.rows, i.f.data(), i.rows, i.gamma.data(), RESULTS);                                 \
  }

std::vector<float> makeNumbers(int64_t count, uint64_t state) {
  std::vector<float> numbers(count);
  for (float &number : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    number = static_cast<float>(static_cast<double>(state >> 40) / 8388608.0 - 1.0);
  }
  return numbers;
}

Results run(Kernel *kernel, const Inputs &inputs, const Offsets &offsets, const resid_ctx *ctx) {
  Results results;
  for (int i = 0; i < kResults; ++i)
    results[i] = std::make_unique<Array>(inputs.rows * inputs.width * kResultBytes[i], offsets[i]);
  if (kernel(ctx, inputs, results) != RESID_OK)
    abort();
  return results;
}

void compare(const char *name, Kernel *scalar, Kernel *streaming, const Inputs &inputs, const Offsets &offsets,
             const resid_ctx *ctx, int threads) {
  Results expected = run(scalar, inputs, offsets, nullptr), found = run(streaming, inputs, offsets, ctx);
  for (int i = 0; i < kResults; ++i) {
    ++comparisons;
    if (found[i]->isAs(*expected[i]))
      continue;
    ++failures;
    printf("%s, result %d: %lld x %lld, offset %lld, %d threads: other bytes than of the scalar path\n", name, i,
           static_cast<long long>(inputs.rows), static_cast<long long>(inputs.width),
           static_cast<long long>(offsets[i]), threads);
  }
}

struct Pool {
  explicit Pool(int threads) : threads(threads) {
    if (resid_thread_pool_create(threads, &pool) != RESID_OK)
      abort();
    resid_ctx_init(&ctx, pool);
  }
  Pool(const Pool &) = delete;
  ~Pool() { resid_thread_pool_destroy(pool); }

  int threads;
  resid_thread_pool *pool;
  resid_ctx ctx;
};

/// Aligned; each result at another byte of a line; against the page before and against the one after.
const Offsets offsetsOf[] = {{0, 0, 0, 0, 0},   {0, 0, 0, 0, 1},    {4, 20, 1, 8, 2},     {60, 36, 63, 56, 62},
                             {1, 3, 33, 61, 5}, {0, 64, 31, 48, 7}, {-1, -2, -1, -4, -1}, {-64, -4, -63, -8, -2}};

} // namespace

int main() {
  Pool pools[] = {Pool(1), Pool(2), Pool(3), Pool(4)};
  for (const Offsets &offsets : offsetsOf) {
    auto compareSizes = [&](const char *name, Kernel *scalar, Kernel *streaming, std::vector<int64_t> widths) {
      for (int64_t width : widths)
        for (int64_t rows : {0, 1, 2, 5}) {
          Inputs inputs{rows, width, makeNumbers(rows * width, 1), makeNumbers(rows * width, 2), makeNumbers(width, 3)};
          compare(name, scalar, streaming, inputs, offsets, nullptr, 1);
        }
      // Five tasks; where two meet, two threads write to one cache line.
      int64_t width = widths.back(), rows = 5 * 32768 / width;
      Inputs inputs{rows, width, makeNumbers(rows * width, 1), makeNumbers(rows * width, 2), makeNumbers(width, 3)};
      for (const Pool &pool : pools)
        compare(name, scalar, streaming, inputs, offsets, &pool.ctx, pool.threads);
    };
    compareSizes("any", KERNEL(scalar_any), KERNEL(nontemporal_any),
                 {0, 1, 3, 7, 31, 63, 64, 65, 127, 192, 769, 1025, 1984, 1985, 513});
    compareSizes("odd", KERNEL_OF_KNOWN_WIDTH(scalar_odd), KERNEL_OF_KNOWN_WIDTH(nontemporal_odd), {769});
    compareSizes("long", KERNEL_OF_KNOWN_WIDTH(scalar_long), KERNEL_OF_KNOWN_WIDTH(nontemporal_long), {4096});
  }
  printf("%d comparisons, %d failures\n", comparisons, failures);
  return failures != 0;
}
