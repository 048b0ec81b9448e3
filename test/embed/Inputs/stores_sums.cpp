// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the kernels of stores-sums.mlir with non-temporal stores beside their scalar path, on 1 to 5 threads, with rows
// that begin at lines of the cache and off them, and compares the bytes of the results and those around them.

#include "nontemporal.h"
#include "resid_runtime.h"
#include "scalar.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr size_t kAround = 64;
int comparisons = 0, failures = 0;

/// Bytes that begin so far after a line of the cache, between bytes of 0x5A.
class Bytes {
public:
  Bytes(size_t count, size_t offset) : count(count), memory(count + 4 * kAround, 0x5A) {
    size_t line = -reinterpret_cast<uintptr_t>(memory.data()) % kAround;
    start = memory.data() + kAround + line + offset;
  }

  template <typename T> T *as() const { return reinterpret_cast<T *>(start); }
  bool isAs(const Bytes &other) const {
    return memcmp(start - kAround, other.start - kAround, count + 2 * kAround) == 0;
  }

private:
  size_t count;
  std::vector<char> memory;
  char *start;
};

struct Inputs {
  int64_t rows, width;
  std::vector<float> dy, x, dsum, gamma, mean, correction, rstd;
  std::vector<uint16_t> narrowDy, narrowX;
};

struct Results {
  Bytes dx, dgamma, dbeta;
};

using Kernel = resid_status(const resid_ctx *, const Inputs &, const Results &);

#define ANY(name) name.data(), i.rows, i.width
#define KNOWN(name) name.data(), i.rows
#define STATISTIC(name) name.data(), i.rows
#define SUMS r.dgamma.as<float>(), r.dbeta.as<float>()
#define LAYER(name, ROWS, ...)                                                                                         \
  [](const resid_ctx *ctx, const Inputs &i, const Results &r) {                                                        \
    return name(ctx, ROWS(i.dy), ROWS(i.x), STATISTIC(i.mean), STATISTIC(i.correction), STATISTIC(i.rstd),             \
                i.gamma.data(), __VA_ARGS__ ROWS(i.dsum), r.dx.as<float>(), SUMS);                                     \
  }
#define RMS(name, ROWS, ...)                                                                                           \
  [](const resid_ctx *ctx, const Inputs &i, const Results &r) {                                                        \
    return name(ctx, ROWS(i.narrowDy), ROWS(i.narrowX), STATISTIC(i.rstd), i.gamma.data(),                             \
                __VA_ARGS__ r.dx.as<uint16_t>(), r.dgamma.as<float>());                                                \
  }

std::vector<float> makeNumbers(int64_t count, uint64_t state) {
  std::vector<float> numbers(count);
  for (float &number : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    number = static_cast<float>(static_cast<double>(state >> 40) / 8388608.0 - 1.0);
  }
  return numbers;
}

std::vector<uint16_t> truncateToBF16(const std::vector<float> &numbers) {
  std::vector<uint16_t> narrow;
  for (float number : numbers) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof(bits));
    narrow.push_back(bits >> 16);
  }
  return narrow;
}

Inputs makeInputs(int64_t rows, int64_t width) {
  int64_t count = rows * width;
  Inputs inputs{rows,
                width,
                makeNumbers(count, 1),
                makeNumbers(count, 2),
                makeNumbers(count, 3),
                makeNumbers(width, 4),
                makeNumbers(rows, 5),
                makeNumbers(rows, 6),
                makeNumbers(rows, 7),
                {},
                {}};
  inputs.narrowDy = truncateToBF16(inputs.dy);
  inputs.narrowX = truncateToBF16(inputs.x);
  return inputs;
}

Results run(Kernel *kernel, const Inputs &inputs, size_t elementBytes, size_t offset, const resid_ctx *ctx) {
  Results results{Bytes(inputs.rows * inputs.width * elementBytes, offset), Bytes(inputs.width * 4, 0),
                  Bytes(inputs.width * 4, 0)};
  if (kernel(ctx, inputs, results) != RESID_OK)
    abort();
  return results;
}

void compare(const char *name, Kernel *scalar, Kernel *streaming, int64_t width, size_t elementBytes,
             const std::vector<resid_ctx> &contexts) {
  for (int64_t rows : {0, 1, 7, 8, 9, 64, 65, 700})
    for (size_t offset : {size_t(0), elementBytes, 64 - elementBytes}) {
      Inputs inputs = makeInputs(rows, width);
      Results expected = run(scalar, inputs, elementBytes, offset, &contexts.front());
      for (const resid_ctx &ctx : contexts) {
        Results found = run(streaming, inputs, elementBytes, offset, &ctx);
        comparisons += 3;
        int wrong =
            !found.dx.isAs(expected.dx) + !found.dgamma.isAs(expected.dgamma) + !found.dbeta.isAs(expected.dbeta);
        failures += wrong;
        if (wrong)
          printf("%s: %lld x %lld, offset %zu, pool %zu: %d of 3 results have other bytes than of the scalar path\n",
                 name, static_cast<long long>(rows), static_cast<long long>(width), offset, &ctx - contexts.data(),
                 wrong);
      }
    }
}

} // namespace

int main() {
  std::vector<resid_thread_pool *> pools;
  std::vector<resid_ctx> contexts;
  for (int threads : {1, 2, 5}) {
    pools.emplace_back();
    contexts.emplace_back();
    if (resid_thread_pool_create(threads, &pools.back()) != RESID_OK)
      abort();
    resid_ctx_init(&contexts.back(), pools.back());
  }
  for (int64_t width : {1, 63, 136, 1024}) {
    compare("layer_any", LAYER(scalar_layer_any, ANY, i.width, ), LAYER(nontemporal_layer_any, ANY, i.width, ), width,
            4, contexts);
    compare("rms_any", RMS(scalar_rms_any, ANY, i.width, ), RMS(nontemporal_rms_any, ANY, i.width, ), width, 2,
            contexts);
  }
  compare("layer_136", LAYER(scalar_layer_136, KNOWN, ), LAYER(nontemporal_layer_136, KNOWN, ), 136, 4, contexts);
  compare("rms_1024", RMS(scalar_rms_1024, KNOWN, ), RMS(nontemporal_rms_1024, KNOWN, ), 1024, 2, contexts);
  for (resid_thread_pool *pool : pools)
    resid_thread_pool_destroy(pool);
  printf("%d comparisons, %d failures\n", comparisons, failures);
  return failures != 0;
}
