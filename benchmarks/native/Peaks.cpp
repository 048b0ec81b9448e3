// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the arithmetic can do: independent chains of one instruction, in registers alone. Compiled once for each set of
// instructions. Of one form, in which the operations of a task are <instructions>_<name>_operations():
//   int32_t <instructions>_<name>(const resid_ctx *ctx, int64_t tasks)

#include "benchmarks/handwritten/Isa.h"
#include "runtime/resid.h"

namespace {

/// As many chains as cover the latency of an operation on two units, and still fit into 16 registers.
constexpr int64_t kChains = 12, kRounds = 1 << 12;

#ifdef __AVX512F__
using Register = __m512;
#else
using Register = __m256;
#endif
constexpr int64_t kLanes = sizeof(Register) / sizeof(float);

// All chains stand in one statement, so that the compiler cannot put a spill between two of them.
#define RESID_TWELVE(INSTRUCTION)                                                                                      \
  INSTRUCTION " %13, %12, %0\n" INSTRUCTION " %13, %12, %1\n" INSTRUCTION " %13, %12, %2\n" INSTRUCTION                \
              " %13, %12, %3\n" INSTRUCTION " %13, %12, %4\n" INSTRUCTION " %13, %12, %5\n" INSTRUCTION                \
              " %13, %12, %6\n" INSTRUCTION " %13, %12, %7\n" INSTRUCTION " %13, %12, %8\n" INSTRUCTION                \
              " %13, %12, %9\n" INSTRUCTION " %13, %12, %10\n" INSTRUCTION " %13, %12, %11\n"
#define RESID_RUN_CHAINS(INSTRUCTION)                                                                                  \
  Register s[kChains] = {}, factor = Register{} + 0.999f, other = Register{} + 0.001f;                                 \
  for (int64_t round = 0; round < kRounds; ++round)                                                                    \
  __asm__ volatile(RESID_TWELVE(INSTRUCTION)                                                                           \
                   : "+v"(s[0]), "+v"(s[1]), "+v"(s[2]), "+v"(s[3]), "+v"(s[4]), "+v"(s[5]), "+v"(s[6]), "+v"(s[7]),   \
                     "+v"(s[8]), "+v"(s[9]), "+v"(s[10]), "+v"(s[11])                                                  \
                   : "v"(factor), "v"(other))

void runFMA(void *, int64_t) { RESID_RUN_CHAINS("vfmadd231ps"); }
#ifdef __AVX512BF16__
void runDot(void *, int64_t) { RESID_RUN_CHAINS("vdpbf16ps"); }
#endif

int32_t runTasks(const resid_ctx *context, void (*run)(void *, int64_t), int64_t tasks) {
  if (context && context->parallel_for)
    context->parallel_for(context->user, tasks, run, nullptr);
  else
    for (int64_t task = 0; task < tasks; ++task)
      run(nullptr, task);
  return RESID_OK;
}

} // namespace

/// Operations are multiplications and additions of f32, so a fused one counts as two.
#define RESID_PEAK(NAME, RUN, TERMS)                                                                                   \
  extern "C" RESID_API int32_t RESID_FOR_ISA(NAME)(const resid_ctx *ctx, int64_t tasks) {                              \
    return runTasks(ctx, RUN, tasks);                                                                                  \
  }                                                                                                                    \
  extern "C" RESID_API int64_t RESID_FOR_ISA(NAME##_operations)() { return kRounds * kChains * kLanes * 2 * (TERMS); }

RESID_PEAK(peak_fma, runFMA, 1)
#ifdef __AVX512BF16__
RESID_PEAK(peak_dot, runDot, 2)
#endif
