// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the memory can do: the streams of a kernel without its arithmetic. Compiled once for each set of instructions.
// Of one form, in bytes, a multiple of 256; arrays begin at cache lines:
//   int32_t <instructions>_stream_<reads>r<writes>w_<stores>(const resid_ctx *ctx, const void *in0, const void *in1,
//       const void *in2, void *out0, void *out1, int64_t bytes)

#include "benchmarks/handwritten/Elements.h"
#include "runtime/resid.h"

using namespace resid::handwritten::RESID_ISA;

namespace {

enum class Stores { Plain, Streamed, StreamedAndFetched };

// kFetchAhead is what kernels have, too: prefetch-bytes of docs/schedules.md.
constexpr int64_t kTaskBytes = 256 << 10, kPiece = sizeof(Integers), kStep = 256, kFetchAhead = 2048;

struct Streams {
  const char *inputs[3];
  char *outputs[2];
  int64_t bytes, taskBytes;
};

template <Stores stores> inline void storePiece(char *to, Integers value) {
  if constexpr (stores == Stores::Plain)
    storeBits(to, value);
  else
    streamBits(to, value);
}

template <int reads, int writes, Stores stores> void copyRange(const Streams &streams, int64_t first, int64_t last) {
  for (int64_t at = first; at < last; at += kStep)
    for (int64_t piece = at; piece < at + kStep; piece += kPiece) {
      if constexpr (stores == Stores::StreamedAndFetched)
        for (int i = 0; i < reads; ++i)
          _mm_prefetch(streams.inputs[i] + piece + kFetchAhead, _MM_HINT_T0);
      Integers sum = loadBits(streams.inputs[0] + piece), other = sum;
      for (int i = 1; i < reads; ++i) {
        Integers next = loadBits(streams.inputs[i] + piece);
        other = xorBits(sum, next);
        sum = addBits(sum, next);
      }
      storePiece<stores>(streams.outputs[0] + piece, sum);
      if constexpr (writes == 2)
        storePiece<stores>(streams.outputs[1] + piece, other);
    }
  if constexpr (stores != Stores::Plain)
    _mm_sfence();
}

template <int reads, int writes, Stores stores> int32_t copyAll(const resid_ctx *context, Streams streams) {
  auto run = [](void *argument, int64_t task) {
    const auto &all = *static_cast<const Streams *>(argument);
    int64_t first = task * all.taskBytes, last = first + all.taskBytes;
    copyRange<reads, writes, stores>(all, first, last < all.bytes ? last : all.bytes);
  };
  if (context && context->parallel_for)
    context->parallel_for(context->user, (streams.bytes + kTaskBytes - 1) / kTaskBytes, run, &streams);
  else
    copyRange<reads, writes, stores>(streams, 0, streams.bytes);
  return RESID_OK;
}

} // namespace

#define RESID_STREAM(READS, WRITES, NAME, STORES)                                                                      \
  extern "C" RESID_API int32_t RESID_FOR_ISA(stream_##READS##r##WRITES##w_##NAME)(                                     \
      const resid_ctx *ctx, const char *in0, const char *in1, const char *in2, char *out0, char *out1,                 \
      int64_t bytes) {                                                                                                 \
    return copyAll<READS, WRITES, Stores::STORES>(ctx, {{in0, in1, in2}, {out0, out1}, bytes, kTaskBytes});            \
  }
#define RESID_STREAMS(READS, WRITES)                                                                                   \
  RESID_STREAM(READS, WRITES, plain, Plain)                                                                            \
  RESID_STREAM(READS, WRITES, streamed, Streamed)
RESID_STREAMS(1, 1)
RESID_STREAMS(2, 1)
RESID_STREAMS(2, 2)
RESID_STREAMS(3, 2)
RESID_STREAM(2, 2, fetched, StreamedAndFetched)

namespace {

struct Read {
  const char *bytes;
  int64_t size;
};

/// Something that hangs on every bit, so that no compiler leaves a read out.
Integers foldRange(const char *from, int64_t size) {
  Integers folded = setAll64(0);
  for (int64_t at = 0; at < size; at += kStep)
    for (int64_t piece = at; piece < at + kStep; piece += kPiece)
      folded = xorBits(folded, loadBits(from + piece));
  return folded;
}

} // namespace

/// Reads an array, as whoever computed it wants it read: of `size` bytes, a multiple of 256. Prefetches would not make
/// it faster.
extern "C" RESID_API int32_t RESID_FOR_ISA(read)(const resid_ctx *ctx, const void *array, int64_t size) {
  Read read = {static_cast<const char *>(array), size};
  auto run = [](void *argument, int64_t task) {
    const auto &all = *static_cast<const Read *>(argument);
    int64_t first = task * kTaskBytes, rest = all.size - first;
    Integers folded = foldRange(all.bytes + first, rest < kTaskBytes ? rest : kTaskBytes);
    __asm__ volatile("" : : "x"(folded));
  };
  int64_t tasks = (size + kTaskBytes - 1) / kTaskBytes;
  if (ctx && ctx->parallel_for)
    ctx->parallel_for(ctx->user, tasks, run, &read);
  else
    for (int64_t task = 0; task < tasks; ++task)
      run(&read, task);
  return RESID_OK;
}
