// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls a generated kernel from C++ with threads of the application's own: a resid_ctx is a struct of function
// pointers, so any thread pool serves, and the runtime library is not needed. Shows what bad arguments are answered
// with.

#include "gated_pre_norm.h"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

int failures = 0;

void check(bool good, const char *what) {
  std::printf("%-58s %s\n", what, good ? "ok" : "FAILED");
  failures += !good;
}

/// The application's way of running things at once: here simply a few threads that share a counter.
void runOnThreads(void *user, int64_t n, void (*fn)(void *arg, int64_t i), void *arg) {
  std::atomic<int64_t> next{0};
  auto work = [&] {
    for (int64_t i; (i = next++) < n;)
      fn(arg, i);
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < *static_cast<int *>(user); ++t)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}

struct Arrays {
  int64_t rows, width;
  std::vector<float> x, branch, gate, gamma, normed, sum;

  Arrays(int64_t rows, int64_t width)
      : rows(rows), width(width), x(rows * width), branch(rows * width), gate(width), gamma(width),
        normed(rows * width), sum(rows * width) {
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = std::sin(0.37f * i) * 3;
      branch[i] = std::cos(0.11f * i);
    }
    for (int64_t c = 0; c < width; ++c) {
      gate[c] = 0.01f * (c % 7);
      gamma[c] = 1 + 0.1f * (c % 5);
    }
  }

  resid_status call(const resid_ctx *ctx) {
    return gated_pre_norm(ctx, x.data(), rows, width, branch.data(), rows, width, gate.data(), width, gamma.data(),
                          width, normed.data(), sum.data());
  }
};

/// The same in float64, with textbook formulas.
double largestError(const Arrays &a) {
  double largest = 0;
  for (int64_t r = 0; r < a.rows; ++r) {
    const float *row = &a.sum[r * a.width];
    double squares = 0;
    for (int64_t c = 0; c < a.width; ++c)
      squares += double(row[c]) * row[c];
    double rstd = 1 / std::sqrt(squares / a.width + 1e-6);
    for (int64_t c = 0; c < a.width; ++c) {
      double error = std::fabs(row[c] * rstd * a.gamma[c] - a.normed[r * a.width + c]);
      largest = std::isnan(error) ? INFINITY : std::fmax(largest, error);
    }
  }
  return largest;
}

bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void checkValuesAndThreads() {
  Arrays serial(1000, 333);
  check(serial.call(nullptr) == RESID_OK, "without a context: done, on one thread");
  check(largestError(serial) < 1e-6, "RMS norm against float64");
  int threads = 3;
  resid_ctx ctx = {};
  ctx.abi_version = RESID_ABI_VERSION;
  ctx.user = &threads;
  ctx.parallel_for = runOnThreads;
  Arrays threaded(1000, 333);
  check(threaded.call(&ctx) == RESID_OK, "with three threads of our own: done");
  check(sameBits(serial.normed, threaded.normed) && sameBits(serial.sum, threaded.sum), "the same bits");
}

void checkIdentity() {
  Arrays arrays(5, 64);
  arrays.branch.assign(arrays.branch.size(), 0.0f);
  arrays.call(nullptr);
  check(sameBits(arrays.sum, arrays.x), "a branch of zeros leaves the stream as it was");
}

void checkBadArguments() {
  Arrays a(4, 8);
  resid_ctx old = {};
  old.abi_version = RESID_ABI_VERSION + 1;
  check(a.call(&old) == RESID_VERSION, "context of another version: RESID_VERSION");
  check(gated_pre_norm(nullptr, a.x.data(), 4, 8, a.branch.data(), 4, 7, a.gate.data(), 8, a.gamma.data(), 8,
                       a.normed.data(), a.sum.data()) == RESID_BAD_SHAPE,
        "a branch of another width: RESID_BAD_SHAPE");
  check(gated_pre_norm(nullptr, nullptr, 4, 8, a.branch.data(), 4, 8, a.gate.data(), 8, a.gamma.data(), 8,
                       a.normed.data(), a.sum.data()) == RESID_BAD_POINTER,
        "a stream that is NULL: RESID_BAD_POINTER");
  check(gated_pre_norm(nullptr, a.x.data(), 4, 8, a.branch.data(), 4, 8, a.gate.data(), 8, a.gamma.data(), 8,
                       a.normed.data(), a.normed.data()) == RESID_ALIAS,
        "both results in one array: RESID_ALIAS");
  check(gated_pre_norm(nullptr, nullptr, 0, 8, nullptr, 0, 8, a.gate.data(), 8, a.gamma.data(), 8, nullptr, nullptr) ==
            RESID_OK,
        "no rows at all: done");
}

} // namespace

int main() {
  const resid_info *info = gated_pre_norm_info();
  std::printf("compiled for %s, %s\n", info->target, info->cpu);
  checkValuesAndThreads();
  checkIdentity();
  checkBadArguments();
  std::printf("%d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}
