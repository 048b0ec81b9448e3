// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures compiled add + layer norm (f32, one thread, in cache) against the ones written by hand, all in this process
// and by turns, so that a change of clock or of neighbours meets all of them. Medians; only ratios are worth comparing.
//   scalar-path [--require=RATIO]     with --require, fails where 32 x 768 is below RATIO of the hand-written speed

#include "add_layer_norm.h"
#include "benchmarks/handwritten/AddLayerNorm.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr float kEpsilon = 1e-5f;
constexpr int kSamples = 201;
constexpr double kSampleNanoseconds = 200e3;

struct Shape {
  int64_t rows, width;
};

/// Numbers from the start of a cache line on, so that all variants meet the same alignment.
class Array {
public:
  explicit Array(int64_t count)
      : values(static_cast<float *>(std::aligned_alloc(64, (count * 4 + 63) / 64 * 64)), &std::free) {
    std::fill_n(values.get(), count, 0.0f);
  }
  float *data() const { return values.get(); }

private:
  std::unique_ptr<float, decltype(&std::free)> values;
};

struct Variant {
  std::string name;
  std::function<void(float *out)> run;
  Array out;
  std::vector<double> samples; // ns per element
};

Array makeValues(int64_t count, unsigned seed) {
  Array values(count);
  uint64_t state = seed;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.data()[i] = static_cast<float>(static_cast<double>(state >> 40) / 8388608.0 - 1.0);
  }
  return values;
}

double measure(Variant &variant, int64_t elements) {
  using Clock = std::chrono::steady_clock;
  int calls = std::max(1, static_cast<int>(kSampleNanoseconds / (0.15 * elements)));
  Clock::time_point start = Clock::now();
  for (int call = 0; call < calls; ++call)
    variant.run(variant.out.data());
  std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
  return elapsed.count() / calls / elements;
}

double median(std::vector<double> samples) {
  std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
  return samples[samples.size() / 2];
}

/// Runs all variants by turns and prints one line each. Gives the speed of the slowest compiled one relative to the
/// first.
double compare(std::vector<Variant> &variants, Shape shape) {
  int64_t elements = shape.rows * shape.width;
  for (int sample = 0; sample < kSamples; ++sample)
    for (Variant &variant : variants)
      variant.samples.push_back(measure(variant, elements));
  double base = median(variants.front().samples), slowest = 1e9;
  for (Variant &variant : variants) {
    double time = median(variant.samples);
    bool isSame = !std::memcmp(variant.out.data(), variants.front().out.data(), elements * sizeof(float));
    std::printf("%6lld x %-6lld %-28s %8.4f ns/element %8.3f of hand-written%s\n", static_cast<long long>(shape.rows),
                static_cast<long long>(shape.width), variant.name.c_str(), time, base / time,
                isSame ? ", same bits" : "");
    if (variant.name.rfind("compiled", 0) == 0) {
      slowest = std::min(slowest, base / time);
      if (!isSame) {
        std::printf("expected the same bits as the hand-written kernel\n");
        std::exit(1);
      }
    }
  }
  return slowest;
}

double compareShape(Shape shape) {
  int64_t rows = shape.rows, width = shape.width, elements = rows * width;
  Array x = makeValues(elements, 1), f = makeValues(elements, 2);
  Array gamma = makeValues(width, 3), beta = makeValues(width, 4);
  std::vector<Variant> variants;
  auto add = [&](const char *name, std::function<void(float *)> run) {
    variants.push_back({name, std::move(run), Array(elements), {}});
  };
  add("hand-written, fixed order", [&](float *out) {
    resid::handwritten::addLayerNormFixedOrder(x.data(), f.data(), gamma.data(), beta.data(), out, rows, width,
                                               kEpsilon);
  });
  add("hand-written, free order", [&](float *out) {
    resid::handwritten::addLayerNormFreeOrder(x.data(), f.data(), gamma.data(), beta.data(), out, rows, width,
                                              kEpsilon);
  });
  add("compiled, any width", [&](float *out) {
    add_layer_norm(nullptr, x.data(), rows, width, f.data(), rows, width, gamma.data(), width, beta.data(), width, out);
  });
  if (width == 768)
    add("compiled, width 768", [&](float *out) {
      add_layer_norm_768(nullptr, x.data(), rows, f.data(), rows, gamma.data(), beta.data(), out);
    });
  return compare(variants, shape);
}

} // namespace

int main(int argc, char **argv) {
  if (!resid::handwritten::isSupported()) {
    std::printf("this processor has no AVX-512; nothing to compare with\n");
    return 0;
  }
  double required = argc > 1 && !std::strncmp(argv[1], "--require=", 10) ? std::atof(argv[1] + 10) : 0;
  double reached = compareShape({32, 768});
  for (Shape shape : {Shape{384, 64}, Shape{96, 256}, Shape{24, 1024}, Shape{6, 4096}})
    compareShape(shape);
  if (reached < required) {
    std::printf("expected at least %.2f of the hand-written speed at 32 x 768, but got %.3f\n", required, reached);
    return 1;
  }
  return 0;
}
