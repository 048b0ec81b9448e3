// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the programs of random_programs.py: flat, fused and one call per op must agree in every bit, and so must any
// number of threads and any placement of the arrays. Arrays stand between pages that may not be touched, so a kernel
// that reads or writes one byte too far is caught.

#include "programs.h"
#include "resid_runtime.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

enum class Element { f16, bf16, f32, f64 };

struct Array {
  size_t count;
  Element element;
  size_t bytes() const { return count * (element == Element::f64 ? 8 : element == Element::f32 ? 4 : 2); }
};

using Call = resid_status (*)(const resid_ctx *ctx, bool rows, void *const *in, void *const *out);

struct Program {
  const char *name;
  std::vector<Array> inputs, outputs;
  Call flat, fused, separate;
  bool dynamicRows;
};

#include "programs.inc"

namespace {

enum class Placement { Start, End, OffByOne };

/// Bytes of which the first, or the last, stands next to a page that may not be touched.
class Guarded {
public:
  Guarded(size_t bytes, Placement placement) {
    size_t page = sysconf(_SC_PAGESIZE);
    size_t body = (bytes + 1 + page - 1) / page * page;
    mapped = body + 2 * page;
    base = static_cast<char *>(mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base == MAP_FAILED || mprotect(base + page, body, PROT_READ | PROT_WRITE) != 0)
      abort();
    memset(base + page, 0xAB, body);
    data = base + page + (placement == Placement::End ? body - bytes : placement == Placement::OffByOne ? 1 : 0);
  }
  Guarded(const Guarded &) = delete;
  Guarded(Guarded &&other) : base(other.base), data(other.data), mapped(other.mapped) { other.base = nullptr; }
  ~Guarded() {
    if (base)
      munmap(base, mapped);
  }

  char *base, *data;
  size_t mapped;
};

uint64_t state;
uint64_t random64() {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 11;
}

/// Random finite values of moderate size, written as bits: sign, an exponent near that of 1, mantissa.
void fill(char *data, const Array &array) {
  for (size_t i = 0; i < array.count; ++i) {
    uint64_t sign = random64() & 1, exponent = random64() % 8, mantissa = random64();
    switch (array.element) {
    case Element::f16: {
      uint16_t bits = sign << 15 | (9 + exponent) << 10 | (mantissa & 0x3ff);
      memcpy(data + 2 * i, &bits, 2);
      break;
    }
    case Element::bf16: {
      uint16_t bits = sign << 15 | (121 + exponent) << 7 | (mantissa & 0x7f);
      memcpy(data + 2 * i, &bits, 2);
      break;
    }
    case Element::f32: {
      uint32_t bits = sign << 31 | (121 + exponent) << 23 | (mantissa & 0x7fffff);
      memcpy(data + 4 * i, &bits, 4);
      break;
    }
    case Element::f64: {
      uint64_t bits = sign << 63 | (1017 + exponent) << 52 | (mantissa & 0xfffffffffffff);
      memcpy(data + 8 * i, &bits, 8);
      break;
    }
    }
  }
}

using Results = std::vector<std::string>;

int failures = 0;

/// FNV-1a over the results of all programs: objects for different processors print the same.
uint64_t resultHash = 14695981039346656037u;

void hashResults(const Results &results) {
  for (const std::string &result : results)
    for (unsigned char byte : result)
      resultHash = (resultHash ^ byte) * 1099511628211u;
}

void fail(const Program &program, const char *form, const std::string &what) {
  printf("%s, %s: %s\n", program.name, form, what.c_str());
  ++failures;
}

/// One call on fresh arrays at `placement`; the bytes of all results.
Results run(const Program &program, Call call, const char *form, const resid_ctx *ctx, Placement placement,
            bool rows = true) {
  state = 1;
  std::vector<Guarded> arrays;
  std::vector<void *> in, out;
  for (const Array &array : program.inputs) {
    arrays.emplace_back(array.bytes(), placement);
    fill(arrays.back().data, array);
    in.push_back(arrays.back().data);
  }
  for (const Array &array : program.outputs) {
    arrays.emplace_back(array.bytes(), placement);
    out.push_back(arrays.back().data);
  }
  resid_status status = call(ctx, rows, in.data(), out.data());
  if (status != RESID_OK)
    fail(program, form, std::string("expected RESID_OK but got ") + resid_status_string(status));
  Results results;
  for (size_t i = 0; i < out.size(); ++i)
    results.emplace_back(static_cast<char *>(out[i]), program.outputs[i].bytes());
  return results;
}

void expectSame(const Program &program, const char *form, const Results &expected, const Results &got) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (expected[i] != got[i])
      fail(program, form, "result " + std::to_string(i) + " has other bits than the ops one by one");
}

void expectUntouched(const Program &program, const char *form, const Results &got) {
  for (const std::string &result : got)
    if (result.find_first_not_of('\xAB') != std::string::npos)
      fail(program, form, "wrote to an output that has no rows");
}

struct Context {
  explicit Context(int32_t threads) {
    if (resid_thread_pool_create(threads, &pool) != RESID_OK)
      abort();
    resid_ctx_init(&ctx, pool);
  }
  ~Context() { resid_thread_pool_destroy(pool); }
  resid_thread_pool *pool;
  resid_ctx ctx;
};

void check(const Program &program, const resid_ctx *two, const resid_ctx *seven) {
  Results expected = run(program, program.separate, "one by one", nullptr, Placement::Start);
  hashResults(expected);
  auto compare = [&](Call call, const char *form, const resid_ctx *ctx, Placement placement) {
    expectSame(program, form, expected, run(program, call, form, ctx, placement));
  };
  compare(program.flat, "flat", nullptr, Placement::Start);
  compare(program.flat, "flat, arrays at the end of a page", nullptr, Placement::End);
  compare(program.flat, "flat, arrays misaligned by one byte", two, Placement::OffByOne);
  compare(program.flat, "flat, two threads", two, Placement::Start);
  compare(program.flat, "flat, seven threads", seven, Placement::End);
  compare(program.fused, "fused", nullptr, Placement::Start);
  compare(program.fused, "fused, seven threads", seven, Placement::End);
  if (program.dynamicRows)
    expectUntouched(program, "no rows", run(program, program.flat, "no rows", two, Placement::Start, false));
}

} // namespace

int main() {
  Context two(2), seven(7);
  for (const Program &program : programs)
    check(program, &two.ctx, &seven.ctx);
  printf("%zu programs, %d failures, results %016llx\n", programs.size(), failures,
         static_cast<unsigned long long>(resultHash));
  return failures == 0 && !programs.empty() ? 0 : 1;
}
