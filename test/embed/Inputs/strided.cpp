// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the kernels of strided.mlir on arrays whose rows lie apart, beside the same kernels on contiguous arrays, and
// compares all bytes: those of the results, and those between the rows, which nobody may write. Buffers stand between
// pages that may not be touched.

#include "strided.h"
#include "contiguous.h"
#include "resid_runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

int comparisons = 0, failures = 0;

enum class Place { Begin, End, OneByteOff };

/// Bytes between two pages that fault, all of them `kGap` to begin with.
class Buffer {
public:
  Buffer(size_t bytes, Place place) : size(bytes) {
    size_t page = sysconf(_SC_PAGESIZE), inner = (bytes + page) / page * page;
    mapped = inner + 2 * page;
    base = static_cast<char *>(mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base == MAP_FAILED || mprotect(base, page, PROT_NONE) || mprotect(base + page + inner, page, PROT_NONE))
      abort();
    start = place == Place::End ? base + page + inner - bytes : base + page + (place == Place::OneByteOff);
    memset(start, kGap, bytes);
  }
  Buffer(const Buffer &) = delete;
  ~Buffer() { munmap(base, mapped); }

  static constexpr char kGap = 0x5A;
  char *start;
  size_t size;

private:
  char *base;
  size_t mapped;
};

/// Rows in a buffer: where the first begins, their bytes, and how far apart they begin.
struct Slice {
  char *start;
  int64_t rows, rowBytes, strideBytes;

  void write(const std::string &contiguous) const {
    for (int64_t r = 0; r < rows; ++r)
      memcpy(start + r * strideBytes, contiguous.data() + r * rowBytes, rowBytes);
  }
  std::string read() const {
    std::string contiguous;
    for (int64_t r = 0; r < rows; ++r)
      contiguous.append(start + r * strideBytes, rowBytes);
    return contiguous;
  }
};

struct Case {
  int64_t rows, width, padding;
  Place place;
};

/// One kernel, on slices and on contiguous arrays.
struct Family {
  const char *name;
  int64_t elementBytes;
  resid_status (*strided)(const resid_ctx *, const Case &, const Slice &x, const Slice &f, const float *gamma,
                          const Slice &y, const Slice &s);
  resid_status (*contiguous)(const Case &, const void *x, const void *f, const float *gamma, void *y, void *s);
};

/// Two rows of rows where their number allows.
int64_t outer(const Case &c) { return c.rows % 2 == 0 ? 2 : 1; }

#define FAMILY(function, T, ...)                                                                                       \
  {                                                                                                                    \
#function, sizeof(T),                                                                                              \
        [](const resid_ctx *ctx, const Case &c, const Slice &x, const Slice &f, const float *gamma, const Slice &y,    \
           const Slice &s) {                                                                                           \
          auto stride = [](const Slice &slice) { return slice.strideBytes / int64_t(sizeof(T)); };                     \
          return strided_##function(ctx, reinterpret_cast<const T *>(x.start), __VA_ARGS__, stride(x),                        \
                                    reinterpret_cast<const T *>(f.start), __VA_ARGS__, stride(f), gamma, c.width,             \
                                    reinterpret_cast<T *>(y.start), stride(y), reinterpret_cast<T *>(s.start),         \
                                    stride(s));                                                                        \
        },                                                                                                             \
        [](const Case &c, const void *x, const void *f, const float *gamma, void *y, void *s) {                        \
          return contiguous_##function(nullptr, static_cast<const T *>(x), __VA_ARGS__, static_cast<const T *>(f), __VA_ARGS__,      \
                                       gamma, c.width, static_cast<T *>(y), static_cast<T *>(s));                      \
        }   \
  }

const Family families[] = {
    FAMILY(layer, float, c.rows, c.width),
    FAMILY(rms_bf16, uint16_t, c.rows, c.width),
    FAMILY(layer_rank3, float, outer(c), c.rows / outer(c), c.width),
};

/// Numbers in (-1, 1).
std::string makeNumbers(int64_t count, int64_t elementBytes, uint64_t state) {
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    float value = static_cast<float>(static_cast<double>(state >> 40) / 8388608.0 - 1.0);
    const char *pointer = reinterpret_cast<const char *>(&value);
    bytes.append(pointer + (4 - elementBytes), elementBytes);
  }
  return bytes;
}

struct Inputs {
  Inputs(const Family &family, const Case &c)
      : x(makeNumbers(c.rows * c.width, family.elementBytes, 1)),
        f(makeNumbers(c.rows * c.width, family.elementBytes, 2)), y(x.size(), 0), s(x.size(), 0), gamma(c.width) {
    std::string bytes = makeNumbers(c.width, 4, 3);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char *>(gamma.data())); // of none, for a width of 0
    if (family.contiguous(c, x.data(), f.data(), gamma.data(), &y[0], &s[0]) != RESID_OK)
      abort();
  }
  std::string x, f, y, s;
  std::vector<float> gamma;
};

void expect(bool good, const Family &family, const Case &c, const char *layout, const char *what) {
  ++comparisons;
  if (good)
    return;
  ++failures;
  printf("%s, %s: %lld x %lld, padding %lld, place %d: %s\n", family.name, layout, static_cast<long long>(c.rows),
         static_cast<long long>(c.width), static_cast<long long>(c.padding), static_cast<int>(c.place), what);
}

/// Whether the buffers hold `kGap` wherever no slice lies.
bool areGapsIntact(const std::vector<Buffer *> &buffers, const std::vector<Slice> &slices) {
  for (const Slice &slice : slices)
    slice.write(std::string(slice.rows * slice.rowBytes, Buffer::kGap));
  for (Buffer *buffer : buffers)
    for (size_t i = 0; i < buffer->size; ++i)
      if (buffer->start[i] != Buffer::kGap)
        return false;
  return true;
}

void run(const Family &family, const Case &c, const resid_ctx *ctx, const char *layout,
         const std::vector<Buffer *> &buffers, const std::vector<Slice> &slices) {
  Inputs inputs(family, c);
  Slice x = slices[0], f = slices[1], y = slices[2], s = slices[3];
  x.write(inputs.x);
  f.write(inputs.f);
  resid_status status = family.strided(ctx, c, x, f, inputs.gamma.data(), y, s);
  expect(status == RESID_OK, family, c, layout, "expected RESID_OK");
  expect(y.read() == inputs.y && s.read() == inputs.s, family, c, layout, "other bits than on contiguous arrays");
  expect(x.start == y.start || x.read() == inputs.x, family, c, layout, "x was written");
  expect(areGapsIntact(buffers, slices), family, c, layout, "a gap was written");
}

int64_t extentOf(const Case &c, int64_t rowBytes, int64_t strideBytes) {
  return c.rows == 0 ? 0 : (c.rows - 1) * strideBytes + rowBytes;
}

/// Four buffers, with strides of their own.
void runApart(const Family &family, const Case &c, const resid_ctx *ctx) {
  int64_t rowBytes = c.width * family.elementBytes, unit = c.padding * family.elementBytes;
  std::vector<Buffer *> buffers;
  std::vector<Slice> slices;
  for (int64_t i = 0; i < 4; ++i) {
    int64_t stride = rowBytes + (i + 1) % 3 * unit;
    buffers.push_back(new Buffer(extentOf(c, rowBytes, stride), c.place));
    slices.push_back({buffers.back()->start, c.rows, rowBytes, stride});
  }
  run(family, c, ctx, "apart", buffers, slices);
  for (Buffer *buffer : buffers)
    delete buffer;
}

/// y where x lies and s where f lies.
void runInPlace(const Family &family, const Case &c, const resid_ctx *ctx) {
  int64_t rowBytes = c.width * family.elementBytes, stride = rowBytes + c.padding * family.elementBytes;
  Buffer first(extentOf(c, rowBytes, stride), c.place), second(extentOf(c, rowBytes, stride), c.place);
  Slice x{first.start, c.rows, rowBytes, stride}, f{second.start, c.rows, rowBytes, stride};
  run(family, c, ctx, "in place", {&first, &second}, {x, f, x, f});
}

/// Columns of one buffer: s, x, a gap, y, f.
void runInterleaved(const Family &family, const Case &c, const resid_ctx *ctx) {
  int64_t rowBytes = c.width * family.elementBytes, gap = c.padding * family.elementBytes, stride = 4 * rowBytes + gap;
  Buffer buffer(extentOf(c, stride, stride), c.place);
  auto slice = [&](int64_t offset) { return Slice{buffer.start + offset, c.rows, rowBytes, stride}; };
  run(family, c, ctx, "interleaved", {&buffer},
      {slice(rowBytes), slice(3 * rowBytes + gap), slice(2 * rowBytes + gap), slice(0)});
}

void runAll(const Family &family, const Case &c, const resid_ctx *ctx) {
  runApart(family, c, ctx);
  runInPlace(family, c, ctx);
  runInterleaved(family, c, ctx);
}

} // namespace

int main() {
  resid_thread_pool *pool;
  if (resid_thread_pool_create(3, &pool) != RESID_OK)
    abort();
  resid_ctx ctx;
  resid_ctx_init(&ctx, pool);
  for (const Family &family : families) {
    for (int64_t width : {0, 1, 17, 64, 72, 770, 1056})
      for (int64_t rows : {0, 1, 6})
        for (int64_t padding : {0, 1, 24, 32})
          for (Place place : {Place::Begin, Place::End, Place::OneByteOff})
            runAll(family, {rows, width, padding, place}, nullptr);
    // Several tasks.
    for (int64_t width : {17, 65, 192}) // in batches
      runAll(family, {40, width, 24, Place::End}, nullptr);
    runAll(family, {50, 4096, 64, Place::Begin}, &ctx);
    runAll(family, {50, 4001, 3, Place::End}, &ctx);
  }
  resid_thread_pool_destroy(pool);
  printf("%d comparisons, %d failures\n", comparisons, failures);
  return failures != 0;
}
