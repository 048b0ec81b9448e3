// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the kernels of test/codegen/Inputs/row-kernels.mlir, compiled with each kind of stores, beside their scalar path
// and compares all bytes. Arrays end at a page that may not be touched, or begin off alignment; bytes around them stay.

#include "auto.h"
#include "nontemporal.h"
#include "pipelined.h"
#include "plain.h"
#include "resid_runtime.h"
#include "scalar.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

int comparisons = 0, failures = 0;

/// Memory with a page after it that faults; the array ends there, or begins some bytes past an aligned address.
class Array {
public:
  Array(size_t bytes, size_t misaligned) : size(bytes) {
    size_t page = sysconf(_SC_PAGESIZE);
    mapped = (bytes + 2 * page - 1) / page * page + page;
    base = static_cast<char *>(mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base == MAP_FAILED || mprotect(base + mapped - page, page, PROT_NONE) != 0)
      abort();
    end = base + mapped - page;
    start = misaligned ? base + misaligned : end - bytes;
    std::fill(base, end, kAround);
  }
  Array(Array &&other) : base(other.base), start(other.start), end(other.end), mapped(other.mapped), size(other.size) {
    other.base = nullptr;
  }
  ~Array() {
    if (base)
      munmap(base, mapped);
  }
  template <typename T> T *as() const { return reinterpret_cast<T *>(start); }
  char *bytes() const { return start; }
  size_t getSize() const { return size; }
  /// Whether nothing was written beside the array.
  bool isIntactAround() const {
    auto isIntact = [](char byte) { return byte == kAround; };
    return std::all_of(base, start, isIntact) && std::all_of(start + size, end, isIntact);
  }

private:
  static constexpr char kAround = 0x5A;
  char *base, *start, *end;
  size_t mapped, size;
};

/// Numbers around 0 with a few subnormal ones; every fifth row is large enough for squares to overflow.
void fill(const Array &array, int64_t width, bool narrow, unsigned seed) {
  uint64_t state = seed;
  int64_t count = array.getSize() / (narrow ? 2 : 4);
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    float value = static_cast<float>(static_cast<double>(state >> 40) / 8388608.0 - 1.0);
    if (width && i / width % 5 == 4)
      value *= 3e30f;
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if (state >> 58 == 0)
      bits &= 0x803FFFFF;
    if (narrow) {
      uint16_t half = bits >> 16;
      memcpy(array.bytes() + 2 * i, &half, 2);
    } else {
      memcpy(array.bytes() + 4 * i, &bits, 4);
    }
  }
}

struct Case {
  int64_t rows, width;
  size_t misaligned; // bytes after a cache line; 0: the arrays end at the end of a page
};

struct Arrays {
  Array x, f, gamma, beta, y, s;
};

using Kernel = std::function<resid_status(const resid_ctx *, const Case &, const Arrays &, void *y, void *s)>;

template <typename T, typename Parameter, typename Function> Kernel layer(Function *function) {
  return [=](const resid_ctx *ctx, const Case &c, const Arrays &a, void *y, void *s) {
    return function(ctx, a.x.as<T>(), c.rows, c.width, a.f.as<T>(), c.rows, c.width, a.gamma.as<Parameter>(), c.width,
                    a.beta.as<Parameter>(), c.width, static_cast<T *>(y), static_cast<T *>(s));
  };
}
template <typename Function> Kernel rms(Function *function) {
  return [=](const resid_ctx *ctx, const Case &c, const Arrays &a, void *y, void *s) {
    return function(ctx, a.x.as<float>(), c.rows, c.width, a.f.as<float>(), c.rows, c.width, a.gamma.as<float>(),
                    c.width, static_cast<float *>(y), static_cast<float *>(s));
  };
}
template <typename T, typename Function> Kernel dropout(Function *function) {
  return [=](const resid_ctx *ctx, const Case &c, const Arrays &a, void *y, void *s) {
    return function(ctx, a.x.as<T>(), c.rows, c.width, a.f.as<T>(), c.rows, c.width, a.gamma.as<T>(), c.width,
                    a.beta.as<T>(), c.width, 0x123456789abcdef, 7, static_cast<T *>(y), static_cast<T *>(s));
  };
}

/// Which arrays are of bf16.
struct Narrow {
  bool rows, parameters;
};

/// Runs the kernel on fresh inputs and gives the bytes of y and s; in place, y lies in x and s in f.
std::string run(const Kernel &kernel, const Case &c, Narrow narrow, const resid_ctx *ctx, bool inPlace) {
  size_t bytes = c.rows * c.width * (narrow.rows ? 2 : 4), parameters = c.width * (narrow.parameters ? 2 : 4);
  auto make = [&](size_t size) { return Array(size, c.misaligned); };
  Arrays arrays{make(bytes), make(bytes), make(parameters), make(parameters), make(bytes), make(bytes)};
  fill(arrays.x, c.width, narrow.rows, 1);
  fill(arrays.f, c.width, narrow.rows, 2);
  fill(arrays.gamma, 0, narrow.parameters, 3);
  fill(arrays.beta, 0, narrow.parameters, 4);
  const Array &y = inPlace ? arrays.x : arrays.y, &s = inPlace ? arrays.f : arrays.s;
  resid_status status = kernel(ctx, c, arrays, y.bytes(), s.bytes());
  if (status != RESID_OK)
    return "status " + std::to_string(status);
  if (!y.isIntactAround() || !s.isIntactAround())
    return "bytes beside a result were written";
  return std::string(y.bytes(), bytes) + std::string(s.bytes(), bytes);
}

struct Pool {
  explicit Pool(int32_t threads) {
    if (resid_thread_pool_create(threads, &pool) != RESID_OK)
      abort();
    resid_ctx_init(&ctx, pool);
  }
  ~Pool() { resid_thread_pool_destroy(pool); }
  resid_thread_pool *pool;
  resid_ctx ctx;
};

struct Family {
  const char *name;
  Narrow narrow;
  Kernel scalar;
  std::vector<std::pair<const char *, Kernel>> others;
};

/// Not a number is one number: every NaN counts as the same bits, whatever its payload.
void unifyNaNs(std::string &bytes, bool narrow) {
  for (size_t i = 0; i + (narrow ? 2 : 4) <= bytes.size(); i += narrow ? 2 : 4) {
    uint32_t bits = 0;
    memcpy(reinterpret_cast<char *>(&bits) + (narrow ? 2 : 0), &bytes[i], narrow ? 2 : 4);
    if ((bits & 0x7FFFFFFF) > 0x7F800000)
      memset(&bytes[i], 0x7F, narrow ? 2 : 4);
  }
}

void compare(const Family &family, const Case &c, const std::vector<const resid_ctx *> &contexts) {
  std::string expected = run(family.scalar, c, family.narrow, nullptr, false);
  unifyNaNs(expected, family.narrow.rows);
  for (const auto &[name, kernel] : family.others)
    for (const resid_ctx *ctx : contexts)
      for (bool inPlace : {false, true}) {
        std::string found = run(kernel, c, family.narrow, ctx, inPlace);
        unifyNaNs(found, family.narrow.rows);
        ++comparisons;
        if (found == expected)
          continue;
        ++failures;
        printf("%s, %s: %lld x %lld, %zu bytes off%s: other bits than the scalar path\n", family.name, name,
               static_cast<long long>(c.rows), static_cast<long long>(c.width), c.misaligned,
               inPlace ? ", in place" : "");
      }
}

} // namespace

#define FAMILY(name, narrow, wrap)                                                                                     \
  {                                                                                                                    \
    #name, narrow, wrap(scalar_##name), {                                                                              \
      {"plain", wrap(plain_##name)}, {"nontemporal", wrap(nontemporal_##name)}, {"pipelined", wrap(pipelined_##name)}, \
      {                                                                                                                \
        "auto", wrap(auto_##name)                                                                                      \
      }                                                                                                                \
    }                                                                                                                  \
  }

int main() {
  Pool three(3), many(64);
  // What a caller says of the results; all bits at once say nothing, and some of them nobody knows.
  resid_ctx soon = RESID_CTX_INIT, later = RESID_CTX_INIT, unknown = RESID_CTX_INIT;
  soon.hints = RESID_HINT_READ_SOON, later.hints = RESID_HINT_STREAM, unknown.hints = 0xFFFFFFFF;
  std::vector<Family> families = {
      FAMILY(add_layer, (Narrow{false, false}), (layer<float, float>)),
      FAMILY(add_rms, (Narrow{false, false}), rms),
      FAMILY(dropout_add_layer, (Narrow{false, false}), dropout<float>),
      FAMILY(add_layer_bf16, (Narrow{true, true}), (layer<uint16_t, uint16_t>)),
      FAMILY(add_layer_mixed, (Narrow{true, false}), (layer<uint16_t, float>)),
      FAMILY(dropout_add_layer_bf16, (Narrow{true, true}), dropout<uint16_t>),
  };
  for (const Family &family : families) {
    for (int64_t width : {0, 1, 17, 63, 64, 65, 96, 770, 1000, 1024, 1025, 1056, 2048, 4097})
      for (int64_t rows : {0, 1, 2, 7})
        for (size_t misaligned : {0, 1, 16})
          compare(family, {rows, width, misaligned}, {nullptr});
    // Several batches of narrow rows, the last one smaller; in several tasks.
    for (int64_t width : {1, 17, 33, 64, 65, 129, 192, 257, 512, 513})
      for (size_t misaligned : {0, 16})
        compare(family, {37, width, misaligned}, {nullptr});
    for (int64_t width : {63, 128, 1025})
      for (size_t misaligned : {0, 16})
        compare(family, {19, width, misaligned}, {&soon, &later, &unknown});
    compare(family, {1100, 65, 18}, {&three.ctx, &many.ctx});
    compare(family, {700, 128, 0}, {&three.ctx});
    // Several tasks; and rows that scratch rows have no room for.
    compare(family, {40, 4096, 0}, {nullptr, &three.ctx, &many.ctx});
    // Two threads write to one cache line.
    compare(family, {40, 4097, 0}, {&three.ctx, &many.ctx});
    compare(family, {40, 4096, 18}, {&three.ctx, &many.ctx});
    compare(family, {9, 8192 + 32, 0}, {&three.ctx});
    compare(family, {9, 8192, 16}, {&three.ctx});
    compare(family, {3, 40000, 0}, {nullptr});
  }
  printf("%d comparisons, %d failures\n", comparisons, failures);
  return failures != 0;
}
