// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the programs of attention.py with the plain loops of attention_loops.h, bit by bit. Arrays and scratch
// memory end right before a page that may not be touched, or begin right after one. An argument: small sizes only.

#include "attention.h"
#include "attention_loops.h"
#include "guarded_scratch.h"
#include "narrow_floats.h"
#include "resid_runtime.h"

#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int64_t kBatch = 2, kHeads = 4, kKeyHeads = 2;
/// q, k, v, the mask, the three results, and the sink.
constexpr int kArrays = 8;

/// What the programs with dropout are called with; the op's own site is 3. The last rows have the last counters that
/// there are.
constexpr int64_t kSeed = 0x123456789ABCDEF, kStep = 7, kSite = 11;
int64_t firstRow = 0;

/// One program of attention.py.
struct Program {
  std::string name, element, mask;
  int64_t size, valueSize;
  std::array<bool, 4> hasDimension;
  bool isCausal, hasCache, areHeadsBehind;
  double dropped;
  int64_t window;
  double cap;
  std::string sink;
  resid_status (*call)(const resid_ctx *, int64_t past, int64_t queries, int64_t keys, void *const *arrays);
};

const Program programs[] = {
#include "attention.inc"
};

/// Which values an array gets beside small ones.
enum class Values { Usual, Special, Hidden };

int64_t calls = 0, failures = 0;

enum class Element { F64, F32, F16, BF16, I1 };

Element getElement(const std::string &name) {
  return name == "f64"   ? Element::F64
         : name == "f32" ? Element::F32
         : name == "f16" ? Element::F16
         : name == "i1"  ? Element::I1
                         : Element::BF16;
}

size_t getBytes(Element element) {
  return element == Element::F64 ? 8 : element == Element::F32 ? 4 : element == Element::I1 ? 1 : 2;
}

void storeElement(Element element, char *place, double value) {
  if (element == Element::F64)
    memcpy(place, &value, 8);
  else if (element == Element::F32)
    memcpy(place, std::array<float, 1>{static_cast<float>(value)}.data(), 4);
  else if (element == Element::I1)
    *place = value != 0;
  else
    memcpy(place, std::array<uint16_t, 1>{element == Element::F16 ? toF16(value) : toBF16(value)}.data(), 2);
}

double loadElement(Element element, const char *place) {
  if (element == Element::F64) {
    double value;
    memcpy(&value, place, 8);
    return value;
  }
  if (element == Element::F32) {
    float value;
    memcpy(&value, place, 4);
    return value;
  }
  if (element == Element::I1)
    return *place;
  uint16_t bits;
  memcpy(&bits, place, 2);
  return element == Element::F16 ? fromF16(bits) : fromBF16(bits);
}

/// An array of a program: its place in memory, and its elements in the order of attention_loops.h.
template <typename T> struct Array {
  Element element;
  char *memory = nullptr;
  std::vector<T> values;
};

/// One call of a program, and what it should give.
template <typename T> class Call {
public:
  Call(const Program &program, int64_t queries, int64_t keys, int64_t past, Values values, uint32_t seed)
      : program(program), queries(queries), keys(keys), past(past), values(values), random(seed) {}

  void run(const resid_ctx &context, Place place) {
    lay(place);
    firstRow = (int64_t(1) << 32) - std::max<int64_t>(kBatch * kHeads * queries, 1);
    void *memory[kArrays];
    for (int i = 0; i < kArrays; ++i)
      memory[i] = arrays[i].memory;
    resid_status status = program.call(&context, past, queries, keys, memory);
    ++calls;
    compute();
    bool isRight = status == RESID_OK;
    for (int i = 4; i < 7; ++i)
      isRight &= isSame(i);
    if (!isRight && ++failures <= 20)
      printf("%s, %d queries, %d keys, past %d, values %d: %s\n", program.name.c_str(), int(queries), int(keys),
             int(past), int(values), status == RESID_OK ? "other bits" : resid_status_string(status));
  }

private:
  int64_t count(int array) const {
    int64_t rows = kBatch * kHeads * queries, shared = kBatch * kKeyHeads * keys, mask = 1;
    int64_t sizes[] = {kBatch, kHeads, queries, keys};
    for (int i = 0; i < 4; ++i)
      mask *= program.hasDimension[i] ? sizes[i] : 1;
    int64_t counts[] = {rows * program.size,
                        shared * program.size,
                        shared * program.valueSize,
                        program.mask.empty() ? 0 : mask,
                        rows * program.valueSize,
                        rows,
                        rows,
                        program.sink.empty() ? 0 : kHeads};
    return counts[array];
  }

  double draw(int array, int64_t index) {
    // From -2 to 2; the library's distribution takes longer than the program that is tested.
    double value = static_cast<int32_t>(random()) * 0x1p-30;
    if (program.mask == "i1" && array == 3)
      return value > -0.5;
    if (array == 7 && values != Values::Usual)
      return std::array<double, kHeads>{value, -HUGE_VAL, std::nan(""), HUGE_VAL}[index];
    // Scores of -Inf are absent, others special.
    if (values == Values::Special && index % 61 == 7)
      return array == 3 ? (index % 2 ? -HUGE_VAL : HUGE_VAL) : index % 3 ? HUGE_VAL : std::nan("");
    // Values of absent keys: those that no row may see.
    if (values == Values::Hidden && array == 2 && index / program.valueSize % keys > past + queries)
      return index % 2 ? HUGE_VAL : std::nan("");
    return value;
  }

  /// Where an element is in memory: heads may come after positions.
  int64_t getPlace(int array, int64_t index) const {
    if (!program.areHeadsBehind || array == 3 || array > 4)
      return index;
    int64_t heads = array == 0 || array == 4 ? kHeads : kKeyHeads,
            positions = array == 0 || array == 4 ? queries : keys;
    int64_t size = array == 2 || array == 4 ? program.valueSize : program.size;
    int64_t column = index % size, row = index / size;
    int64_t position = row % positions, head = row / positions % heads, item = row / positions / heads;
    return ((item * positions + position) * heads + head) * size + column;
  }

  void lay(Place place) {
    static std::array<Arena, kArrays> arenas = {Arena(1, kMostBytes), Arena(1, kMostBytes), Arena(1, kMostBytes),
                                                Arena(1, kMostBytes), Arena(1, kMostBytes), Arena(1, kMostBytes),
                                                Arena(1, kMostBytes), Arena(1, kMostBytes)};
    scratchPlace = place;
    for (int i = 0; i < kArrays; ++i) {
      Array<T> &array = arrays[i];
      array.element = getElement(i == 3           ? program.mask
                                 : i == 7         ? program.sink
                                 : i < 5          ? program.element
                                 : sizeof(T) == 8 ? "f64"
                                                  : "f32");
      size_t bytes = getBytes(array.element);
      array.memory = arenas[i].place(1, count(i) * bytes, place);
      array.values.resize(count(i));
      if (i >= 4 && i < 7) {
        memset(array.memory, 0xFF, count(i) * bytes);
        continue;
      }
      for (int64_t index = 0; index < count(i); ++index) {
        char *at = array.memory + getPlace(i, index) * bytes;
        storeElement(array.element, at, draw(i, index));
        array.values[index] = static_cast<T>(loadElement(array.element, at));
      }
    }
  }

  void compute() {
    AttentionArrays<T> loops = {kBatch,  kHeads,  kKeyHeads, queries, keys, program.size, program.valueSize,
                                nullptr, nullptr, nullptr};
    loops.q = arrays[0].values.data(), loops.k = arrays[1].values.data(), loops.v = arrays[2].values.data();
    std::vector<char> choices(arrays[3].values.begin(), arrays[3].values.end());
    if (program.mask == "i1")
      loops.choices = reinterpret_cast<const bool *>(choices.data());
    else if (!program.mask.empty())
      loops.addends = arrays[3].values.data();
    int64_t sizes[] = {kBatch, kHeads, queries, keys}, stride = 1;
    for (int i = 3; i >= 0; --i) {
      loops.maskStrides[i] = program.hasDimension[i] ? stride : 0;
      stride *= program.hasDimension[i] ? sizes[i] : 1;
    }
    loops.past = program.hasCache ? past : -1;
    loops.causal = program.isCausal;
    loops.window = program.window, loops.cap = static_cast<T>(program.cap);
    loops.sink = program.sink.empty() ? nullptr : arrays[7].values.data();
    loops.scale = static_cast<T>(1.0 / std::sqrt(static_cast<double>(program.size)));
    loops.threshold = static_cast<uint32_t>(std::lround(program.dropped * 65536));
    loops.firstRow = static_cast<uint32_t>(firstRow), loops.random = {kSeed, kStep, kSite + 3};
    loops.y = arrays[4].values.data(), loops.max = arrays[5].values.data(), loops.sum = arrays[6].values.data();
    attend(loops);
  }

  bool isSame(int array) const {
    const Array<T> &found = arrays[array];
    size_t bytes = getBytes(found.element);
    for (int64_t index = 0; index < count(array); ++index) {
      char expected[8];
      const char *at = found.memory + getPlace(array, index) * bytes;
      storeElement(found.element, expected, found.values[index]);
      bool areNaN = std::isnan(found.values[index]) && std::isnan(loadElement(found.element, at));
      if (!areNaN && memcmp(expected, at, bytes) != 0)
        return false;
    }
    return true;
  }

  const Program &program;
  int64_t queries, keys, past;
  Values values;
  std::mt19937 random;
  std::array<Array<T>, kArrays> arrays;
};

template <typename T> void check(const Program &program, const std::vector<resid_ctx> &contexts, bool areFew) {
  uint32_t seed = 0;
  for (auto [queries, keys] : {std::pair(1, 1),
                               {3, 5},
                               {9, 16},
                               {1, 255},
                               {2, 256},
                               {5, 257},
                               {0, 4},
                               {4, 0},
                               {9, 70},
                               {37, 33},
                               {3, 530},
                               {140, 21},
                               {20, 270},
                               {5, 700},
                               {330, 310},
                               {290, 650}})
    for (Values values : {Values::Usual, Values::Special, Values::Hidden}) {
      int64_t past = program.hasCache ? std::max<int64_t>(keys - queries, 0) * 2 / 3 : 0;
      // Blocks of queries that see none of the first chunk, which cost little where windows are narrow.
      bool isNarrow = program.window != 0 && program.window <= 300;
      // Heads of the most columns take long in plain loops.
      bool isWide = program.size > 256 && queries * keys > 2000;
      if ((program.hasCache && keys < queries) || isWide || (areFew && queries * keys > 300) ||
          (queries > 140 && (!isNarrow || values == Values::Special)))
        continue;
      const resid_ctx &context = contexts[seed % contexts.size()];
      Call<T>(program, queries, keys, past, values, seed).run(context, seed % 2 ? Place::Start : Place::End);
      ++seed;
    }
}

} // namespace

int main(int count, char **) {
  const Threads one(1), two(2), five(5);
  std::vector<resid_ctx> contexts = {one.context, two.context, five.context};
  for (const Program &program : programs)
    program.element == "f64" || program.mask == "f64" || program.sink == "f64"
        ? check<double>(program, contexts, count > 1)
        : check<float>(program, contexts, count > 1);
  printf("%d programs, %d calls, %d failures\n", int(std::size(programs)), int(calls), int(failures));
  return failures != 0;
}
