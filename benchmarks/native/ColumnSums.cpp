// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times column sums: orders of additions beside each other, with their errors, and compiled kernels beside the one by
// hand and beside memory that is only read. All of a table in turns, in one process; medians, with quartiles.
//   resid-column-sums [KERNELS.so]
// KERNELS.so is compiled from kernels/column_sums.mlir. Its bits have to be those of the kernel by hand.

#include "benchmarks/handwritten/ColumnSums.h"
#include "runtime/resid_runtime.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <random>
#include <string>

using namespace resid::handwritten;

namespace {

constexpr int kRounds = 41;
constexpr int64_t kTaskElements = 32768;

struct Shape {
  int64_t rows, width;
};
constexpr Shape kShapes[] = {{512, 768}, {4096, 768}, {16384, 1024}};

struct Way {
  std::string name;
  std::function<void()> run;
  std::vector<double> times = {};
};

double quantile(std::vector<double> times, double part) {
  std::sort(times.begin(), times.end());
  return times[static_cast<size_t>(part * static_cast<double>(times.size() - 1))];
}

double timeOnce(const Way &way, int repeats) {
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i)
    way.run();
  std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  return time.count() / repeats;
}

/// Microseconds of each way: the ways take turns, so that what else the machine does meets all of them.
void timeInTurns(std::vector<Way> &ways) {
  std::vector<int> repeats;
  for (Way &way : ways) {
    way.run();
    repeats.push_back(std::max(1, static_cast<int>(2000.0 / timeOnce(way, 1))));
  }
  for (int round = 0; round < kRounds; ++round)
    for (size_t i = 0; i < ways.size(); ++i)
      ways[i].times.push_back(timeOnce(ways[i], repeats[i]));
}

template <typename Body> void runTasks(const resid_ctx *context, int64_t count, const Body &body) {
  auto call = [](void *argument, int64_t i) { (*static_cast<const Body *>(argument))(i); };
  if (context->parallel_for)
    return context->parallel_for(context->user, count, call, const_cast<Body *>(&body));
  for (int64_t i = 0; i < count; ++i)
    body(i);
}

template <typename Element>
void sumByHand(const resid_ctx *context, ColumnSums<Element> &sums, Shape shape, float *result) {
  int64_t lanes = sums.countLanes(), elements = (shape.rows + lanes - 1) / lanes * shape.width;
  int64_t perTask = std::max<int64_t>(1, (kTaskElements + elements - 1) / elements);
  runTasks(context, (lanes + perTask - 1) / perTask, [&](int64_t task) {
    float buffer[3 * 1024];
    for (int64_t lane = task * perTask; lane < std::min((task + 1) * perTask, lanes); ++lane)
      sums.addLane(lane, buffer);
  });
  sums.finish(result);
}

/// Reads every line of memory, and does as little with it as can be seen.
void readOnly(const resid_ctx *context, const void *memory, int64_t bytes) {
  constexpr int64_t taskBytes = 256 << 10;
  runTasks(context, (bytes + taskBytes - 1) / taskBytes, [&](int64_t task) {
    const auto *from = static_cast<const char *>(memory) + task * taskBytes;
    Words sum[4] = {};
    for (int64_t at = 0; at < std::min(taskBytes, bytes - task * taskBytes); at += 4 * sizeof(Words))
      for (int64_t i = 0; i < 4; ++i)
        sum[i] ^= loadAs<Words>(reinterpret_cast<const uint32_t *>(from + at) + i * kVector);
    Words all = sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
    asm volatile("" : : "x"(all));
  });
}

template <typename Element> struct Data {
  explicit Data(Shape shape) : shape(shape), x(shape.rows * shape.width) {
    std::mt19937 engine(1);
    std::normal_distribution<float> normal(0.1f, 1.0f);
    for (Element &element : x) {
      float value = normal(engine);
      uint32_t word;
      memcpy(&word, &value, sizeof(word));
      if constexpr (sizeof(Element) == 2)
        element = static_cast<Element>(word >> 16);
      else
        element = value;
    }
  }
  /// The largest error of a column, in units of the sum of its terms' magnitudes.
  double getError(const std::vector<float> &result) const {
    double largest = 0;
    for (int64_t column = 0; column < shape.width; ++column) {
      double sum = 0, magnitudes = 0;
      for (int64_t row = 0; row < shape.rows; ++row) {
        double term = loadFloat(&x[row * shape.width + column]);
        sum += term;
        magnitudes += std::fabs(term);
      }
      largest = std::max(largest, std::fabs(result[column] - sum) / magnitudes);
    }
    return largest;
  }
  int64_t bytes() const { return static_cast<int64_t>(x.size() * sizeof(Element)); }

  Shape shape;
  std::vector<Element> x;
};

void printTable(const std::vector<Way> &ways, const Way &base, int64_t bytes, const std::vector<double> &errors) {
  for (size_t i = 0; i < ways.size(); ++i) {
    double median = quantile(ways[i].times, 0.5);
    printf("  %-12s %9.1f us  (%.1f to %.1f)  %6.1f GB/s  %5.2f", ways[i].name.c_str(), median,
           quantile(ways[i].times, 0.25), quantile(ways[i].times, 0.75), static_cast<double>(bytes) / median / 1e3,
           quantile(base.times, 0.5) / median);
    if (i < errors.size() && errors[i] >= 0)
      printf("  error %.1e", errors[i]);
    printf("\n");
  }
}

constexpr std::pair<Order, const char *> kOrders[] = {{Order::Cascade, "cascade"},     {Order::Running, "running"},
                                                      {Order::PerLane, "per lane"},    {Order::Group32, "groups 32"},
                                                      {Order::Group64, "groups 64"},   {Order::Group128, "groups 128"},
                                                      {Order::Group256, "groups 256"}, {Order::Wide, "f64 terms"}};

template <typename Element> void compareOrders(const resid_ctx *context, const Data<Element> &data) {
  std::vector<ColumnSums<Element>> sums;
  std::vector<std::vector<float>> results;
  for (auto [order, name] : kOrders) {
    sums.emplace_back(data.x.data(), data.shape.rows, data.shape.width, order);
    results.emplace_back(data.shape.width);
  }
  std::vector<Way> ways;
  for (size_t i = 0; i < sums.size(); ++i)
    ways.push_back({kOrders[i].second, [&, i] { sumByHand(context, sums[i], data.shape, results[i].data()); }});
  ways.push_back({"read only", [&] { readOnly(context, data.x.data(), data.bytes()); }});
  timeInTurns(ways);
  std::vector<double> errors;
  for (const std::vector<float> &result : results)
    errors.push_back(data.getError(result));
  printTable(ways, ways.front(), data.bytes(), errors);
}

template <typename Element> using Kernel = resid_status (*)(const resid_ctx *, const Element *, int64_t, float *);

template <typename Element>
void compareKernels(const resid_ctx *context, const Data<Element> &data, void *library, const std::string &type) {
  std::string name = "column_sums_" + type + "_" + std::to_string(data.shape.width);
  auto kernel = reinterpret_cast<Kernel<Element>>(dlsym(library, name.c_str()));
  if (!kernel) {
    fprintf(stderr, "resid-column-sums: expected a function '%s' in the library\n", name.c_str());
    exit(1);
  }
  ColumnSums<Element> sums(data.x.data(), data.shape.rows, data.shape.width, Order::Cascade);
  std::vector<float> byHand(data.shape.width), compiled(data.shape.width);
  std::vector<Way> ways;
  ways.push_back({"by hand", [&] { sumByHand(context, sums, data.shape, byHand.data()); }});
  ways.push_back({"compiled", [&] {
                    if (kernel(context, data.x.data(), data.shape.rows, compiled.data()) != RESID_OK)
                      exit(1);
                  }});
  ways.push_back({"read only", [&] { readOnly(context, data.x.data(), data.bytes()); }});
  timeInTurns(ways);
  if (memcmp(byHand.data(), compiled.data(), byHand.size() * sizeof(float)) != 0) {
    fprintf(stderr, "resid-column-sums: expected the bits of the sum by hand from %s\n", name.c_str());
    exit(1);
  }
  printTable(ways, ways.front(), data.bytes(), {});
  printf("  compiled to read limit: %.2f\n", quantile(ways[2].times, 0.5) / quantile(ways[1].times, 0.5));
}

template <typename Element> void compareAll(const std::string &type, void *library) {
  for (Shape shape : kShapes) {
    Data<Element> data(shape);
    for (int32_t threads : {1, 2}) {
      resid_thread_pool *pool = nullptr;
      if (threads > 1 && resid_thread_pool_create(threads, &pool) != RESID_OK)
        exit(1);
      resid_ctx context;
      resid_ctx_init(&context, pool);
      printf("%ldx%ld %s, threads: %d\n", static_cast<long>(shape.rows), static_cast<long>(shape.width), type.c_str(),
             threads);
      library ? compareKernels(&context, data, library, type) : compareOrders(&context, data);
      resid_thread_pool_destroy(pool);
    }
  }
}

} // namespace

int main(int argc, char **argv) {
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  if (argc > 2 || (argc > 1 && !library)) {
    fprintf(stderr, "resid-column-sums: %s\n", argc > 2 ? "expected one library at most" : dlerror());
    return argc > 2 ? 2 : 3;
  }
  compareAll<float>("f32", library);
  compareAll<uint16_t>("bf16", library);
  return 0;
}
