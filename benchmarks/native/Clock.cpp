// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the processor is: its clock, and the best of the instructions that hand-written code is compiled for.

#include "runtime/resid.h"

#include <chrono>

namespace {

/// Additions per nanosecond in a chain of which each waits for the one before.
double timeChain() {
  constexpr int64_t kOperations = 1000000;
  auto start = std::chrono::steady_clock::now();
  uint64_t value = 1;
  for (int64_t i = 0; i < kOperations; i += 8)
    __asm__ volatile("addq %0, %0\n xorq $5, %0\n addq %0, %0\n xorq $9, %0\n"
                     "addq %0, %0\n xorq $3, %0\n addq %0, %0\n xorq $7, %0\n"
                     : "+r"(value));
  std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  return static_cast<double>(kOperations) / elapsed.count();
}

} // namespace

/// The clock in GHz: the best of some short runs, since what lies between them is somebody else's time.
extern "C" RESID_API double bench_clock() {
  double best = 0;
  for (int run = 0; run < 100; ++run) {
    double clock = timeChain();
    best = clock > best ? clock : best;
  }
  return best;
}

/// The name in front of the hand-written functions that this processor runs best; "" where it runs none.
extern "C" RESID_API const char *bench_instructions() {
  bool hasAVX512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
    return "";
  if (!hasAVX512)
    return "avx2";
  return __builtin_cpu_supports("avx512bf16") ? "avx512bf16" : "avx512";
}
