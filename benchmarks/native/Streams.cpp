// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the memory can do: the streams of a kernel without its arithmetic, one instruction per line of each output. Of
// one form, in bytes, a multiple of 256; arrays begin at cache lines:
//   int32_t stream_<reads>r<writes>w_<stores>(const resid_ctx *ctx, const void *in0, const void *in1, void *out0,
//       void *out1, int64_t bytes)
// Also the clock of the processor. Needs AVX-512.

#include "runtime/resid.h"

#include <chrono>
#include <immintrin.h>

namespace {

enum class Stores { Plain, Streamed };

constexpr int64_t kTaskBytes = 256 << 10, kLine = 64, kStep = 4 * kLine;

struct Streams {
  const char *inputs[2];
  char *outputs[2];
  int64_t bytes, taskBytes;
};

template <Stores stores> inline void storeLine(char *to, __m512i value) {
  if constexpr (stores == Stores::Streamed)
    _mm512_stream_si512(reinterpret_cast<__m512i *>(to), value);
  else
    _mm512_store_si512(to, value);
}

template <int count, Stores stores> void copyRange(const Streams &streams, int64_t first, int64_t last) {
  for (int64_t at = first; at < last; at += kStep)
    for (int64_t line = at; line < at + kStep; line += kLine) {
      __m512i a = _mm512_load_si512(streams.inputs[0] + line);
      if constexpr (count == 1) {
        storeLine<stores>(streams.outputs[0] + line, a);
      } else {
        __m512i b = _mm512_load_si512(streams.inputs[1] + line);
        storeLine<stores>(streams.outputs[0] + line, _mm512_add_epi32(a, b));
        storeLine<stores>(streams.outputs[1] + line, _mm512_xor_si512(a, b));
      }
    }
  if constexpr (stores == Stores::Streamed)
    _mm_sfence();
}

template <int count, Stores stores> int32_t copyAll(const resid_ctx *context, Streams streams) {
  auto run = [](void *argument, int64_t task) {
    const auto &all = *static_cast<const Streams *>(argument);
    int64_t first = task * all.taskBytes, last = first + all.taskBytes;
    copyRange<count, stores>(all, first, last < all.bytes ? last : all.bytes);
  };
  if (context && context->parallel_for)
    context->parallel_for(context->user, (streams.bytes + kTaskBytes - 1) / kTaskBytes, run, &streams);
  else
    copyRange<count, stores>(streams, 0, streams.bytes);
  return RESID_OK;
}

} // namespace

#define RESID_STREAM(COUNT, NAME, STORES)                                                                              \
  extern "C" RESID_API int32_t stream_##COUNT##r##COUNT##w_##NAME(                                                     \
      const resid_ctx *ctx, const void *in0, const void *in1, void *out0, void *out1, int64_t bytes) {                 \
    return copyAll<COUNT, Stores::STORES>(ctx, {{static_cast<const char *>(in0), static_cast<const char *>(in1)},      \
                                                {static_cast<char *>(out0), static_cast<char *>(out1)},                \
                                                bytes,                                                                 \
                                                kTaskBytes});                                                          \
  }
RESID_STREAM(1, plain, Plain)
RESID_STREAM(1, streamed, Streamed)
RESID_STREAM(2, plain, Plain)
RESID_STREAM(2, streamed, Streamed)

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
