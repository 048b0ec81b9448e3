// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls the kernels of guard_pages.py at every width around registers, steps and blocks, with each array once right
// after and once right before a page that may not be touched: one byte too far on either side is a fault, which is
// reported with its place. Of arrays whose rows lie apart each row stands so, and so does scratch memory. All objects
// of one function must agree in every bit.

#include "guarded_memory.h"
#include "headers.inc"
#include "resid_runtime.h"

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

enum class Element { f16, bf16, f32, f64 };

/// What stands for the sizes of a call among the dimensions of an array.
enum Dimension : int64_t { Rows = -1, Width = -2 };

/// An array in as many pieces as rows lie apart; a contiguous one is one piece.
struct Array {
  Element element;
  std::vector<int64_t> dims;
  bool isStrided;

  size_t elementBytes() const { return element == Element::f64 ? 8 : element == Element::f32 ? 4 : 2; }
  size_t pieces(int64_t rows, int64_t width) const {
    return isStrided ? count(rows, width, 0, dims.size() - 1) : 1;
  }
  size_t pieceBytes(int64_t rows, int64_t width) const {
    return elementBytes() * count(rows, width, isStrided ? dims.size() - 1 : 0, dims.size());
  }

private:
  size_t count(int64_t rows, int64_t width, size_t first, size_t last) const {
    size_t product = 1;
    for (size_t i = first; i < last; ++i)
      product *= static_cast<size_t>(dims[i] == Rows ? rows : dims[i] == Width ? width : dims[i]);
    return product;
  }
};

using Call = resid_status (*)(const resid_ctx *, int64_t rows, int64_t width, void *const *in, void *const *out);

struct Program {
  const char *name;
  int64_t fixedRows, fixedWidth; // -1: any
  std::vector<Array> inputs, outputs;
  std::vector<std::pair<const char *, Call>> calls;
};

#include "programs.inc"

namespace {

constexpr int64_t someRows = 9, maxRows = 17;

sigjmp_buf afterFault;
volatile sig_atomic_t catching = 0;
const char *volatile faultAddress;

void onFault(int, siginfo_t *info, void *) {
  if (!catching)
    abort();
  faultAddress = static_cast<const char *>(info->si_addr);
  siglongjmp(afterFault, 1);
}

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

/// Scratch memory between pages that fault; one call asks for it once.
struct Scratch {
  Arena arena;
  Place place;
};

void *allocate(void *user, size_t bytes, size_t alignment) {
  size_t whole = (bytes + alignment - 1) / alignment * alignment;
#ifdef EXACT_HEAP
  (void)user;
  return aligned_alloc(alignment, whole);
#else
  auto *scratch = static_cast<Scratch *>(user);
  return scratch->arena.place(1, whole, scratch->place);
#endif
}

void release(void *, void *memory) {
#ifdef EXACT_HEAP
  free(memory);
#else
  (void)memory;
#endif
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
  Tester(const Program &program, int64_t maxWidth)
      : program(program), scratch{Arena(1, maxRows * kRowDistance), Place::Start} {
    for (const auto *arrays : {&program.inputs, &program.outputs})
      for (const Array &array : *arrays)
        arenas.emplace_back(array.pieces(maxRows, maxWidth), array.pieceBytes(maxRows, maxWidth) + 1);
    ctx.abi_version = RESID_ABI_VERSION;
    ctx.user = &scratch;
    ctx.alloc = allocate;
    ctx.free = release;
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
    for (const Array &array : program.inputs) {
      in.push_back(place(array, arenas[in.size()], size));
      forEachPiece(array, in.back(), size, [&](char *piece, size_t bytes) {
        fill(piece, array, bytes, 1000 * in.size() + static_cast<size_t>(piece - static_cast<char *>(in.back())));
      });
    }
    for (const Array &array : program.outputs) {
      out.push_back(place(array, arenas[in.size() + out.size()], size));
      forEachPiece(array, out.back(), size, [](char *piece, size_t bytes) { memset(piece, 0xAB, bytes); });
    }
    scratch.place = size.place;
    ++calls;
    if (sigsetjmp(afterFault, 1) == 0) {
      catching = 1;
      resid_status status = call(&ctx, size.rows, size.width, in.data(), out.data());
      catching = 0;
      if (status != RESID_OK)
        fail(program, object, size, resid_status_string(status));
    } else {
      catching = 0;
      fail(program, object, size, "touched " + describe(in, out, size));
    }
    std::string results;
    for (size_t i = 0; i < out.size(); ++i)
      forEachPiece(program.outputs[i], out[i], size,
                   [&](char *piece, size_t bytes) { results.append(piece, bytes); });
    return results;
  }

  static char *place(const Array &array, Arena &arena, const Size &size) {
    return arena.place(array.pieces(size.rows, size.width), array.pieceBytes(size.rows, size.width), size.place);
  }

  template <typename Visit>
  static void forEachPiece(const Array &array, void *data, const Size &size, Visit visit) {
    for (size_t i = 0, count = array.pieces(size.rows, size.width); i < count; ++i)
      visit(static_cast<char *>(data) + i * kRowDistance, array.pieceBytes(size.rows, size.width));
  }

  /// Where the fault is, by the array that it is nearest to.
  std::string describe(const std::vector<void *> &in, const std::vector<void *> &out, const Size &size) const {
    std::string found = "memory far from its arrays";
    for (size_t i = 0; i < in.size() + out.size(); ++i) {
      bool isInput = i < in.size();
      const Array &array = isInput ? program.inputs[i] : program.outputs[i - in.size()];
      std::string name = isInput ? "input " + std::to_string(i) : "output " + std::to_string(i - in.size());
      forEachPiece(array, isInput ? in[i] : out[i - in.size()], size, [&](const char *start, size_t bytes) {
        const char *end = start + bytes;
        if (faultAddress < start && start - faultAddress <= 4096)
          found = std::to_string(start - faultAddress) + " bytes before " + name;
        if (faultAddress >= end && faultAddress - end < 4096)
          found = std::to_string(faultAddress - end) + " bytes after " + name;
      });
    }
    return found;
  }

  const Program &program;
  std::vector<Arena> arenas;
  Scratch scratch;
  resid_ctx ctx = {};
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
    Tester tester(program, wide.back());
    auto checkWidth = [&](int64_t width) {
      for (int64_t rows : {int64_t(0), int64_t(1), int64_t(2), someRows})
        if (program.fixedRows < 0)
          tester.check(rows, width);
      if (program.fixedRows >= 0)
        tester.check(program.fixedRows, width);
    };
    if (program.fixedWidth >= 0)
      checkWidth(program.fixedWidth);
    // Rows of one chunk are in batches of 16.
    if (program.fixedWidth > 0 && program.fixedWidth <= 64 && program.fixedRows < 0)
      for (int64_t rows : {int64_t(16), maxRows})
        tester.check(rows, program.fixedWidth);
    for (int64_t width = 0; program.fixedWidth < 0 && width <= every; ++width)
      checkWidth(width);
    for (size_t i = 0; program.fixedWidth < 0 && i < wide.size(); ++i)
      tester.check(3, wide[i]);
  }
  printf("%zu programs, %d calls, %d failures\n", programs.size(), calls, failures);
  return failures == 0 && !programs.empty() ? 0 : 1;
}
