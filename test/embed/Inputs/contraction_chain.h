// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chain acc = fma(a, b, acc) of a contraction, written plainly from docs/numerics.md, and arrays to run it on. Not:
// what is compared with it.

#ifndef RESID_TEST_EMBED_CONTRACTION_CHAIN_H
#define RESID_TEST_EMBED_CONTRACTION_CHAIN_H

#include "multiply_add.h"
#include "narrow_floats.h"
#include "resid.h"

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

enum class Element { f16, bf16, f32, f64 };

/// Sizes by the letters of loops.
struct Sizes {
  std::array<int64_t, 128> of = {};
  int64_t operator[](char letter) const { return of[letter]; }
};

/// The letters are the loops along which an operand goes.
struct Operand {
  Element element;
  std::string letters;
  bool isApart;
};

enum Role { A, B, Start, Out };

using Call = resid_status (*)(const resid_ctx *, const Sizes &size, void *const *memory, const int64_t *strides);

struct Program {
  const char *name;
  std::string loops;
  Operand operands[4];
  bool hasStart;
  Call call;
};

//===------------------------------------------- numbers ----------------------------------------------------------===//

inline size_t getBytes(Element element) { return element == Element::f64 ? 8 : element == Element::f32 ? 4 : 2; }

inline double load(Element element, const char *bytes) {
  uint16_t half;
  float single;
  double wide;
  switch (element) {
  case Element::f16:
    return memcpy(&half, bytes, 2), fromF16(half);
  case Element::bf16:
    return memcpy(&half, bytes, 2), fromBF16(half);
  case Element::f32:
    return memcpy(&single, bytes, 4), single;
  case Element::f64:
    return memcpy(&wide, bytes, 8), wide;
  }
  abort();
}

inline void store(Element element, double value, char *bytes) {
  uint16_t half;
  float single;
  switch (element) {
  case Element::f16:
  case Element::bf16:
    half = element == Element::f16 ? toF16(value) : toBF16(value);
    memcpy(bytes, &half, 2);
    return;
  case Element::f32:
    single = static_cast<float>(value);
    memcpy(bytes, &single, 4);
    return;
  case Element::f64:
    memcpy(bytes, &value, 8);
    return;
  }
}

/// What arrays hold: numbers whose sums round; the same with NaNs, infinities, subnormal and huge numbers and zeros of
/// both signs among them; or numbers so small that sums of products are subnormal.
enum class Values { Usual, Special, Tiny };

struct Generator {
  uint64_t state;
  uint64_t draw() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  }

  double next(Element element, Values values) {
    auto number = static_cast<double>(static_cast<int64_t>(draw()) - (1 << 30));
    int exponent = static_cast<int>(draw() % 7) - 34;
    int range = element == Element::f64 ? 1022 : element == Element::f16 ? 14 : 126;
    if (values == Values::Tiny)
      exponent -= element == Element::f16 ? 12 : range / 2 + 8;
    uint64_t kind = values == Values::Special ? draw() % 400 : 400;
    if (kind == 0)
      return std::numeric_limits<double>::quiet_NaN();
    if (kind <= 2)
      return kind == 1 ? HUGE_VAL : -HUGE_VAL;
    if (kind <= 6)
      return std::ldexp(number, range - 31);
    if (kind <= 60)
      return kind % 2 ? -0.0 : 0.0;
    if (kind <= 200)
      exponent -= range;
    return std::ldexp(number, exponent);
  }
};

//===------------------------------------------- arrays -----------------------------------------------------------===//

inline int64_t count(const std::string &letters, const Sizes &sizes) {
  int64_t product = 1;
  for (char letter : letters)
    product *= sizes[letter];
  return product;
}

/// By how many elements of a row-major array a step along each letter leads on.
inline Sizes getStrides(const std::string &letters, const Sizes &sizes) {
  Sizes strides;
  int64_t stride = 1;
  for (size_t i = letters.size(); i-- > 0; stride *= sizes[letters[i]])
    strides.of[letters[i]] = stride;
  return strides;
}

/// Calls `visit` with the sum of `strides` at each point of the loops, the last one innermost.
template <typename Visit>
void forEachPoint(const std::string &letters, const Sizes &sizes, const std::vector<Sizes> &strides, Visit visit) {
  std::array<int64_t, 4> offsets = {};
  auto walk = [&](const auto &walkOn, size_t depth) -> void {
    if (depth == letters.size())
      return visit(offsets);
    char letter = letters[depth];
    for (int64_t i = 0; i < sizes[letter]; ++i) {
      walkOn(walkOn, depth + 1);
      for (size_t j = 0; j < strides.size(); ++j)
        offsets[j] += strides[j][letter];
    }
    for (size_t j = 0; j < strides.size(); ++j)
      offsets[j] -= strides[j][letter] * sizes[letter];
  };
  walk(walk, 0);
}

/// An array of the largest sizes, of which every call takes a corner.
struct Master {
  const Operand *operand;
  Sizes largest;
  std::vector<char> bytes;
  std::vector<double> values;

  Master(const Operand &operand, const Sizes &largest, Values kind, uint64_t seed)
      : operand(&operand), largest(largest), bytes(count(operand.letters, largest) * getBytes(operand.element)),
        values(count(operand.letters, largest)) {
    Generator generator{seed};
    for (size_t i = 0; i < values.size(); ++i) {
      char *place = bytes.data() + i * getBytes(operand.element);
      store(operand.element, generator.next(operand.element, kind), place);
      values[i] = load(operand.element, place);
    }
  }
};

/// The rows of a corner of `large`, each with its offset there in elements and its number; an array without dimensions
/// is a row of one.
template <typename Visit>
void forEachRow(const Operand &operand, const Sizes &largest, const Sizes &sizes, Visit visit) {
  if (count(operand.letters, sizes) == 0)
    return;
  std::string leading = operand.letters.substr(0, operand.letters.size() - !operand.letters.empty());
  int64_t row = 0;
  forEachPoint(leading, sizes, {getStrides(operand.letters, largest)},
               [&](const auto &offsets) { visit(offsets[0], row++); });
}

inline int64_t getWidth(const Operand &operand, const Sizes &sizes) {
  return operand.letters.empty() ? 1 : sizes[operand.letters.back()];
}

//===------------------------------------------- the chain --------------------------------------------------------===//

/// The results for the first `firstK` and all further sizes of k up to the largest, at the largest sizes else.
class Expected {
public:
  Expected(const Program &program, const std::vector<Master> &masters, int64_t firstK)
      : program(program), masters(masters), out(program.operands[Out]), sizes(masters[A].largest), firstK(firstK) {
    bool isWide = false;
    for (const Operand &operand : program.operands)
      isWide |= operand.element == Element::f64;
    isWide ? compute<double>() : compute<float>();
  }

  const char *get(int64_t k, int64_t offset) const {
    return results[k - firstK].data() + offset * getBytes(out.element);
  }

private:
  template <typename T> void compute() {
    std::string contracted;
    for (char loop : program.loops)
      if (out.letters.find(loop) == std::string::npos)
        contracted += loop;
    // Where k is the outermost contracted loop, a chain is the beginning of a longer one.
    bool goesOn = contracted.front() == 'k';
    std::vector<T> sums;
    for (int64_t k = 0, largest = sizes['k']; k <= largest; ++k) {
      if (k < firstK && !goesOn)
        continue;
      if (sums.empty() || !goesOn)
        sums = start<T>();
      Sizes part = sizes;
      part.of['k'] = goesOn ? k != 0 : k;
      run(sums, contracted, part, goesOn && k != 0 ? k - 1 : 0);
      if (k >= firstK)
        round(sums);
    }
  }

  template <typename T> std::vector<T> start() const {
    std::vector<T> sums(count(out.letters, sizes));
    if (!program.hasStart)
      return sums;
    size_t i = 0;
    forEachPoint(out.letters, sizes, {getStrides(program.operands[Start].letters, sizes)},
                 [&](const auto &offsets) { sums[i++] = static_cast<T>(masters[Start].values[offsets[0]]); });
    return sums;
  }

  template <typename T>
  void run(std::vector<T> &sums, const std::string &contracted, const Sizes &part, int64_t k) const {
    std::vector<Sizes> strides = {getStrides(program.operands[A].letters, sizes),
                                  getStrides(program.operands[B].letters, sizes)};
    struct Offsets {
      int64_t a, b;
    };
    std::vector<Offsets> points;
    forEachPoint(contracted, part, strides, [&](const auto &offsets) {
      points.push_back({offsets[0] + k * strides[0]['k'], offsets[1] + k * strides[1]['k']});
    });
    size_t i = 0;
    forEachPoint(out.letters, sizes, strides, [&](const auto &offsets) {
      T sum = sums[i];
      for (Offsets point : points)
        sum = multiplyAdd(static_cast<T>(masters[A].values[offsets[0] + point.a]),
                          static_cast<T>(masters[B].values[offsets[1] + point.b]), sum);
      sums[i++] = sum;
    });
  }

  template <typename T> void round(const std::vector<T> &sums) {
    std::vector<char> stored(sums.size() * getBytes(out.element));
    for (size_t i = 0; i < sums.size(); ++i)
      store(out.element, sums[i], stored.data() + i * getBytes(out.element));
    results.push_back(std::move(stored));
  }

  const Program &program;
  const std::vector<Master> &masters;
  const Operand &out;
  const Sizes &sizes;
  int64_t firstK;
  std::vector<std::vector<char>> results;
};

#endif
