// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls the functions of statuses.mlir from many threads at once, all with one context: on pointers and on tensors,
// with scratch memory and without, the first calls of an object that chooses its CPU among them.

#include "resid_runtime.h"
#include "statuses.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 8, kCalls = 20;
constexpr int64_t kRows = 300, kWidth = 333;

struct Data {
  explicit Data(int seed) : x(kRows * kWidth), f(x.size()), gamma(kWidth), beta(kWidth), stream(kRows * 8), weight(64) {
    for (std::vector<float> *array : {&x, &f, &gamma, &beta, &stream, &weight})
      for (size_t i = 0; i < array->size(); ++i)
        (*array)[i] = static_cast<float>(static_cast<int>(i * 37 + seed * 11) % 101) / 50.0f - 1.0f;
  }
  std::vector<float> x, f, gamma, beta, stream, weight;
};

struct Results {
  std::vector<float> normalized = std::vector<float>(kRows * kWidth), sum = normalized,
                     branch = std::vector<float>(kRows * 8);
  bool operator==(const Results &other) const {
    return normalized == other.normalized && sum == other.sum && branch == other.branch;
  }
};

bool call(const resid_ctx *ctx, const Data &d, int seed, Results &r) {
  return post(ctx, d.x.data(), kRows, kWidth, d.f.data(), kRows, kWidth, d.gamma.data(), kWidth, d.beta.data(), kWidth,
              seed, 1, 0, 0, r.normalized.data(), r.sum.data()) == RESID_OK &&
         with_scratch(ctx, d.stream.data(), kRows, d.weight.data(), r.branch.data()) == RESID_OK;
}

/// with_scratch on tensors.
bool callOnTensors(const resid_ctx *ctx, Data &d, Results &r) {
  int64_t wide[] = {kRows, 8}, square[] = {8, 8};
  auto tensor = [](float *data, int64_t *shape) {
    DLTensor made = {};
    made.data = data;
    made.device.device_type = kDLCPU;
    made.ndim = 2;
    made.dtype = {kDLFloat, 32, 1};
    made.shape = shape;
    return made;
  };
  DLTensor stream = tensor(d.stream.data(), wide), weight = tensor(d.weight.data(), square),
           branch = tensor(r.branch.data(), wide);
  const DLTensor *args[] = {&stream, &weight, &branch};
  return with_scratch_dl(ctx, args, 3) == RESID_OK;
}

} // namespace

int main() {
  resid_thread_pool *pool;
  if (resid_thread_pool_create(3, &pool) != RESID_OK)
    return 1;
  resid_ctx ctx;
  resid_ctx_init(&ctx, pool);
  std::vector<std::vector<Results>> found(kThreads, std::vector<Results>(kCalls));
  std::atomic<int> failures{0}, waiting{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      Data data(t);
      --waiting;
      while (waiting > 0)
        std::this_thread::yield();
      for (int i = 0; i < kCalls; ++i)
        failures += !call(&ctx, data, t, found[t][i]) + !callOnTensors(&ctx, data, found[t][i]);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int t = 0; t < kThreads; ++t) {
    Data data(t);
    Results expected;
    resid_ctx serial;
    resid_ctx_init(&serial, nullptr);
    failures += !call(&serial, data, t, expected);
    for (const Results &results : found[t])
      failures += !(results == expected);
  }
  resid_thread_pool_destroy(pool);
  std::printf("%d failures\n", failures.load());
  return failures != 0;
}
