// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls the kernels of guard_pages.py at every width around registers, steps and blocks, with each array once right
// after and once right before a page that may not be touched: one byte too far on either side is a fault, which is
// reported with its place. All objects of one function must agree in every bit. With EXACT_HEAP, arrays are blocks of
// the heap of exact size instead, for a program under AddressSanitizer.

#include "headers.inc"
#include "resid_runtime.h"

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

enum class Element { f16, bf16, f32, f64 };

struct Array {
  Element element;
  bool hasRows, hasWidth;
  size_t elementBytes() const { return element == Element::f64 ? 8 : element == Element::f32 ? 4 : 2; }
  size_t bytes(int64_t rows, int64_t width) const {
    return elementBytes() * static_cast<size_t>((hasRows ? rows : 1) * (hasWidth ? width : 1));
  }
};

using Call = resid_status (*)(const resid_ctx *, int64_t rows, int64_t width, void *const *in, void *const *out);

struct Program {
  const char *name;
  std::vector<Array> inputs, outputs;
  std::vector<std::pair<const char *, Call>> calls;
};

#include "programs.inc"

namespace {

constexpr int64_t maxRows = 9;
enum class Place { Start, End };

sigjmp_buf afterFault;
volatile sig_atomic_t catching = 0;
const char *volatile faultAddress;

void onFault(int, siginfo_t *info, void *) {
  if (!catching)
    abort();
  faultAddress = static_cast<const char *>(info->si_addr);
  siglongjmp(afterFault, 1);
}

/// Room between two pages that fault; an array stands at its start or at its end. Made once, used for every call.
class Arena {
public:
  explicit Arena(size_t most) {
#ifndef EXACT_HEAP
    size_t page = sysconf(_SC_PAGESIZE);
    body = (most + page - 1) / page * page;
    base = static_cast<char *>(mmap(nullptr, body + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base == MAP_FAILED || mprotect(base + page, body, PROT_READ | PROT_WRITE) != 0)
      abort();
    base += page;
#endif
  }

  char *place(size_t bytes, Place place) {
#ifdef EXACT_HEAP
    heap.reset(new char[bytes]);
    return heap.get();
#else
    return place == Place::Start ? base : base + body - bytes;
#endif
  }

private:
#ifdef EXACT_HEAP
  std::unique_ptr<char[]> heap;
#else
  char *base;
  size_t body;
#endif
};

/// The bits of element i: random finite values of moderate size.
uint64_t makeBits(Element element, uint64_t i) {
  uint64_t random = (i + 1) * 6364136223846793005u + 1442695040888963407u;
  random ^= random >> 29;
  uint64_t sign = random & 1, exponent = (random >> 1) % 8, mantissa = random >> 8;
  switch (element) {
  case Element::f16:
    return sign << 15 | (9 + exponent) << 10 | (mantissa & 0x3ff);
  case Element::bf16:
    return sign << 15 | (121 + exponent) << 7 | (mantissa & 0x7f);
  case Element::f32:
    return sign << 31 | (121 + exponent) << 23 | (mantissa & 0x7fffff);
  case Element::f64:
    return sign << 63 | (1017 + exponent) << 52 | (mantissa & 0xfffffffffffff);
  }
  abort();
}

void fill(char *data, const Array &array, size_t bytes, uint64_t seed) {
  for (size_t i = 0, width = array.elementBytes(); i * width < bytes; ++i) {
    uint64_t bits = makeBits(array.element, seed + i);
    memcpy(data + i * width, &bits, width); // little-endian
  }
}

int calls = 0, failures = 0;

struct Size {
  int64_t rows, width;
  Place place;
};

void fail(const Program &program, const char *object, const Size &size, const std::string &what) {
  printf("%s%s, %lld x %lld, arrays at the %s of their pages: %s\n", object, program.name,
         static_cast<long long>(size.rows), static_cast<long long>(size.width),
         size.place == Place::Start ? "start" : "end", what.c_str());
  ++failures;
}

class Tester {
public:
  Tester(const Program &program, const resid_ctx *ctx, int64_t maxWidth) : program(program), ctx(ctx) {
    for (const Array &array : program.inputs)
      arenas.emplace_back(array.bytes(maxRows, maxWidth) + 1);
    for (const Array &array : program.outputs)
      arenas.emplace_back(array.bytes(maxRows, maxWidth) + 1);
  }

  /// All objects at one size; the first gives the bits.
  void check(int64_t rows, int64_t width) {
    std::string expected;
    for (const auto &[object, call] : program.calls)
      for (Place place : {Place::Start, Place::End}) {
        Size size{rows, width, place};
        std::string found = run(object, call, size);
        if (expected.empty())
          expected = found;
        else if (found != expected)
          fail(program, object, size, "other bits than at the first call");
      }
  }

private:
  std::string run(const char *object, Call call, const Size &size) {
    std::vector<void *> in, out;
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      size_t bytes = program.inputs[i].bytes(size.rows, size.width);
      in.push_back(arenas[i].place(bytes, size.place));
      fill(static_cast<char *>(in.back()), program.inputs[i], bytes, 1000 * i);
    }
    for (size_t i = 0; i < program.outputs.size(); ++i) {
      size_t bytes = program.outputs[i].bytes(size.rows, size.width);
      out.push_back(arenas[in.size() + i].place(bytes, size.place));
      memset(out.back(), 0xAB, bytes);
    }
    ++calls;
    if (sigsetjmp(afterFault, 1) == 0) {
      catching = 1;
      resid_status status = call(ctx, size.rows, size.width, in.data(), out.data());
      catching = 0;
      if (status != RESID_OK)
        fail(program, object, size, resid_status_string(status));
    } else {
      catching = 0;
      fail(program, object, size, "touched " + describe(in, out, size));
    }
    std::string results;
    for (size_t i = 0; i < out.size(); ++i)
      results.append(static_cast<char *>(out[i]), program.outputs[i].bytes(size.rows, size.width));
    return results;
  }

  /// Where the fault is, by the array that it is nearest to.
  std::string describe(const std::vector<void *> &in, const std::vector<void *> &out, const Size &size) const {
    for (size_t i = 0; i < in.size() + out.size(); ++i) {
      const Array &array = i < in.size() ? program.inputs[i] : program.outputs[i - in.size()];
      const char *start = static_cast<char *>(i < in.size() ? in[i] : out[i - in.size()]);
      const char *end = start + array.bytes(size.rows, size.width);
      std::string name = i < in.size() ? "input " + std::to_string(i) : "output " + std::to_string(i - in.size());
      if (faultAddress < start && start - faultAddress <= 4096)
        return std::to_string(start - faultAddress) + " bytes before " + name;
      if (faultAddress >= end && faultAddress - end < 4096)
        return std::to_string(faultAddress - end) + " bytes behind " + name;
    }
    return "memory far from its arrays";
  }

  const Program &program;
  const resid_ctx *ctx;
  std::vector<Arena> arenas;
};

} // namespace

int main(int argc, char **argv) {
#ifndef EXACT_HEAP
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
#endif
  // Every width up to the first argument, then those around the steps of wide rows.
  int64_t every = argc > 1 ? atoll(argv[1]) : 140;
  std::vector<int64_t> wide = {255, 256, 257, 511, 513, 770, 1023, 1025, 2047, 2049, 4097};
  for (const Program &program : programs) {
    Tester tester(program, nullptr, wide.back());
    for (int64_t width = 0; width <= every; ++width)
      for (int64_t rows : {int64_t(0), int64_t(1), int64_t(2), maxRows})
        tester.check(rows, width);
    for (int64_t width : wide)
      tester.check(3, width);
  }
  printf("%zu programs, %d calls, %d failures\n", programs.size(), calls, failures);
  return failures == 0 && !programs.empty() ? 0 : 1;
}
