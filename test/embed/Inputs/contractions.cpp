// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the contractions of contractions.py with the chain of contraction_chain.h, bit by bit. Arrays and scratch
// memory end right before a page that may not be touched, or begin right after one. Arguments: how many sizes to try
// (few, sample or whole), and `split` where the processor compiled for has no fused multiply-add.

#include "contractions.h"
#include "contraction_chain.h"
#include "guarded_scratch.h"
#include "resid_runtime.h"

#include <csignal>
#include <cstdio>

#include "contractions.inc"

namespace {

//===------------------------------------------- calls ------------------------------------------------------------===//

int64_t calls = 0, failures = 0;
/// What runs, for the message of a fault.
std::string current;

void onFault(int, siginfo_t *, void *) {
  printf("%s: touched memory that is not its own\n", current.c_str());
  fflush(stdout);
  _exit(1);
}

constexpr int64_t kGap = 5;

/// One program on values of one kind.
class Tester {
public:
  Tester(const Program &program, const Sizes &largest, Values values, int64_t firstK = 0)
      : program(program), masters(makeMasters(program, largest, values)), expected(program, masters, firstK) {}

  void check(const Sizes &sizes, Threads &threads, int32_t threadCount, Place place) {
    current = std::string(program.name);
    for (char loop : program.loops)
      current += std::string(", ") + loop + " " + std::to_string(sizes[loop]);
    current += ", " + std::to_string(threadCount) + (place == Place::Start ? " threads, start" : " threads, end");
    scratchPlace = place;
    std::array<void *, 4> memory = {};
    std::array<int64_t, 4> strides = {};
    for (Role role : {A, B, Start, Out})
      memory[role] = lay(role, sizes, place, strides[role]);
    resid_status status = program.call(&threads.context, sizes, memory.data(), strides.data());
    ++calls;
    if (status != RESID_OK)
      fail(std::string("answered ") + resid_status_string(status));
    else
      compare(sizes, static_cast<const char *>(memory[Out]), strides[Out]);
  }

private:
  static std::vector<Master> makeMasters(const Program &program, const Sizes &largest, Values values) {
    std::vector<Master> masters;
    for (Role role : {A, B, Start, Out})
      masters.emplace_back(program.operands[role], largest, values, role + 1);
    return masters;
  }

  static std::array<Arena, 4> &getArenas() {
    static std::array<Arena, 4> arenas = {Arena(1, kMostBytes), Arena(1, kMostBytes), Arena(1, kMostBytes),
                                          Arena(1, kMostBytes)};
    return arenas;
  }

  /// Lays an array between the pages: an input with its values, with NaNs between its rows, a result full of NaNs.
  void *lay(Role role, const Sizes &sizes, Place place, int64_t &stride) const {
    const Master &master = masters[role];
    const Operand &operand = *master.operand;
    size_t element = getBytes(operand.element), width = getWidth(operand, sizes);
    size_t rows = width == 0 ? 0 : count(operand.letters, sizes) / width;
    stride = static_cast<int64_t>(width) + (operand.isApart ? kGap : 0);
    size_t bytes = rows == 0 ? 0 : ((rows - 1) * stride + width) * element;
    char *memory = getArenas()[role].place(1, bytes, place);
    if (role == Out || operand.isApart)
      memset(memory, 0xFF, bytes);
    if (role == Out)
      return memory;
    forEachRow(operand, master.largest, sizes, [&](int64_t offset, int64_t row) {
      memcpy(memory + row * stride * element, master.bytes.data() + offset * element, width * element);
    });
    return memory;
  }

  void compare(const Sizes &sizes, const char *found, int64_t stride) {
    const Operand &out = program.operands[Out];
    size_t element = getBytes(out.element), width = getWidth(out, sizes);
    int64_t others = 0;
    forEachRow(out, masters[Out].largest, sizes, [&](int64_t offset, int64_t row) {
      const char *right = expected.get(sizes['k'], offset), *here = found + row * stride * element;
      if (row != 0)
        for (const char *gap = here - (stride - width) * element; gap < here; ++gap)
          others += *gap != '\xFF';
      if (memcmp(here, right, width * element) == 0)
        return;
      for (size_t i = 0; i < width; ++i)
        others +=
            memcmp(here + i * element, right + i * element, element) != 0 &&
            !(std::isnan(load(out.element, here + i * element)) && std::isnan(load(out.element, right + i * element)));
    });
    if (others)
      fail("other bits in " + std::to_string(others) + " elements");
  }

  static void fail(const std::string &what) {
    if (++failures <= 20)
      printf("%s: %s\n", current.c_str(), what.c_str());
  }

  const Program &program;
  std::vector<Master> masters;
  Expected expected;
};

//===------------------------------------------- sizes ------------------------------------------------------------===//

enum class Amount { Few, Sample, Whole };

Sizes makeSizes(int64_t m, int64_t n, int64_t k) {
  Sizes sizes;
  for (auto [letter, size] : {std::pair('m', m), std::pair('n', n), std::pair('k', k), std::pair('b', int64_t(2)),
                              std::pair('h', int64_t(3)), std::pair('g', int64_t(2)), std::pair('l', int64_t(3))})
    sizes.of[letter] = size;
  return sizes;
}

bool has(const Program &program, char loop) { return program.loops.find(loop) != std::string::npos; }

/// Sizes that the program does not have are not varied.
std::vector<int64_t> vary(const Program &program, char loop, const std::vector<int64_t> &sizes) {
  return has(program, loop) ? sizes : std::vector<int64_t>{1};
}

const std::vector<int64_t> edges = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 67};

class Campaign {
public:
  explicit Campaign(Amount amount) : amount(amount) {}

  void run(const Program &program) {
    for (Values values : {Values::Usual, Values::Special, Values::Tiny}) {
      int64_t most = getMost(values);
      Tester tester(program, makeSizes(most, most, most), values);
      // Sizes drawn at random, and each size once with 0 and 1.
      for (int i = 0, draws = amount == Amount::Few ? 12 : 60; i < draws; ++i)
        checkAll(tester, makeSizes(draw(most), draw(most), draw(most)), i % 3 == 0);
      for (int i = 0; i < 8; ++i)
        checkAll(tester, makeSizes(i & 1 ? 3 : 0, i & 2 ? 5 : 0, i & 4 ? 7 : 0), true);
      if (amount == Amount::Whole)
        runAll(tester, program, values);
    }
    if (amount == Amount::Few)
      return;
    for (auto [m, n, k] : {std::tuple(3, 70, 300), std::tuple(130, 5, 129), std::tuple(9, 200, 70),
                           std::tuple(1, 513, 257), std::tuple(97, 1, 600), std::tuple(1, 1, 3000)}) {
      Sizes sizes = makeSizes(m, n, k);
      checkAll(*std::make_unique<Tester>(program, sizes, Values::Usual, k), sizes, true);
    }
  }

private:
  int64_t getMost(Values values) const {
    if (amount == Amount::Few)
      return 20;
    return amount == Amount::Whole || values == Values::Usual ? 67 : 33;
  }

  /// Every size from 0 to 67 for two and three loops; edges for batches, and for values that are not the usual ones.
  void runAll(Tester &tester, const Program &program, Values values) {
    std::vector<int64_t> every;
    for (int64_t size = 0; size <= 67; ++size)
      every.push_back(size);
    bool isEvery = values == Values::Usual && !has(program, 'b') && !has(program, 'l');
    const std::vector<int64_t> &sizes = isEvery ? every : edges;
    for (int64_t m : vary(program, 'm', sizes))
      for (int64_t n : vary(program, 'n', sizes))
        for (int64_t k : sizes)
          tester.check(makeSizes(m, n, k), single, 1, calls % 2 ? Place::Start : Place::End);
  }

  /// On 1 thread, where asked for on more too, at both places.
  void checkAll(Tester &tester, const Sizes &sizes, bool onMore) {
    for (Place place : {Place::Start, Place::End}) {
      tester.check(sizes, single, 1, place);
      if (!onMore)
        continue;
      tester.check(sizes, two, 2, place);
      tester.check(sizes, five, 5, place);
    }
  }

  int64_t draw(int64_t most) { return static_cast<int64_t>(generator.draw() % static_cast<uint64_t>(most + 1)); }

  Amount amount;
  Generator generator{7};
  Threads single{1}, two{2}, five{5};
};

} // namespace

int main(int argc, char **argv) {
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
  Amount amount = Amount::Sample;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "split")
      isSplit = true;
    else
      amount = argument == "whole" ? Amount::Whole : argument == "few" ? Amount::Few : Amount::Sample;
  }
  Campaign campaign(amount);
  for (const Program &program : programs)
    campaign.run(program);
  printf("%zu programs, %lld calls, %lld failures\n", programs.size(), static_cast<long long>(calls),
         static_cast<long long>(failures));
  return failures != 0;
}
