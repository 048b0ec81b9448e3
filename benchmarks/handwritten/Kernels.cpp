// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C functions of the hand-written kernels, all of one form:
//   int32_t <instructions>_hand_<kernel>_<type>_<stores>(const resid_ctx *ctx, const void *x, const void *f, const void
//   *gamma,
//       const void *beta, void *y, void *s, int64_t rows, int64_t width, int64_t seed, int64_t step)
// They answer 0, or RESID_BAD_SHAPE where the width is not one they take. Rows are cut into the tasks that compiled
// kernels have.

#include "benchmarks/handwritten/RowOrders.h"
#include "runtime/resid.h"

using namespace resid::handwritten::RESID_ISA;

namespace {

/// As in compiled kernels.
constexpr int64_t kTaskElements = 32768;

template <typename Traits> struct Tasks {
  using Element = typename Traits::Type::Element;
  Arrays<Element> arrays;
  const Philox *philox;
  int64_t rows, taskRows;

  void run(int64_t task) {
    int64_t first = task * taskRows, last = first + taskRows < rows ? first + taskRows : rows;
    using Kept = typename RowKernel<Traits>::Kept;
    if constexpr (Traits::rows == Rows::Pipelined || Traits::rows == Rows::Paired) {
      alignas(64) Kept scratch[RowOrder<Traits>::getScratchElements(kLargestWidth)];
      RowOrder<Traits>(arrays, scratch).run(first, last);
    } else {
      alignas(64) Kept scratch[Traits::add && Traits::streams ? kLargestWidth : 1];
      RowKernel<Traits>(arrays, philox, scratch).run(first, last);
    }
  }
};

template <typename Traits>
int32_t runKernel(const resid_ctx *context, const void *x, const void *f, const void *gamma, const void *beta, void *y,
                  void *s, int64_t rows, int64_t width, int64_t seed, int64_t step) {
  using Element = typename Traits::Type::Element;
  if (rows < 0 || width < 1 || width > kLargestWidth)
    return RESID_BAD_SHAPE;
  bool takesTails = Traits::rows == Rows::Single || Traits::rows == Rows::Wide;
  if (!takesTails && (width % kChunk != 0 || ((reinterpret_cast<uintptr_t>(y) | reinterpret_cast<uintptr_t>(s)) & 63)))
    return RESID_BAD_SHAPE;
  int64_t taskRows = (kTaskElements + width - 1) / width, count = (rows + taskRows - 1) / taskRows;
  Tasks<Traits> tasks{{static_cast<const Element *>(x), static_cast<const Element *>(f),
                       static_cast<const Element *>(gamma), static_cast<const Element *>(beta),
                       static_cast<Element *>(y), static_cast<Element *>(s), width},
                      nullptr,
                      rows,
                      taskRows};
  Philox philox(static_cast<uint64_t>(seed), 0, static_cast<uint32_t>(step));
  if (Traits::dropout)
    tasks.philox = &philox;
  auto run = [](void *argument, int64_t task) { static_cast<Tasks<Traits> *>(argument)->run(task); };
  if (context && context->parallel_for && count > 1) {
    context->parallel_for(context->user, count, run, &tasks);
    return RESID_OK;
  }
  tasks.taskRows = rows;
  tasks.run(0);
  return RESID_OK;
}

} // namespace

#define RESID_KERNEL(NAME, ...)                                                                                        \
  extern "C" RESID_API int32_t RESID_FOR_ISA(hand_##NAME)(const resid_ctx *ctx, const void *x, const void *f,          \
                                                          const void *gamma, const void *beta, void *y, void *s,       \
                                                          int64_t rows, int64_t width, int64_t seed, int64_t step) {   \
    return runKernel<KernelTraits<__VA_ARGS__>>(ctx, x, f, gamma, beta, y, s, rows, width, seed, step);                \
  }
#define RESID_STORES(NAME, ...)                                                                                        \
  RESID_KERNEL(NAME##_plain, __VA_ARGS__, Stores::Plain)                                                               \
  RESID_KERNEL(NAME##_streamed, __VA_ARGS__, Stores::Streamed)                                                         \
  RESID_KERNEL(NAME##_streamed_ahead, __VA_ARGS__, Stores::StreamedAhead)
#define RESID_TYPES(NAME, ...)                                                                                         \
  RESID_STORES(NAME##_f32, F32, __VA_ARGS__)                                                                           \
  RESID_STORES(NAME##_bf16, BF16, __VA_ARGS__)

RESID_TYPES(add_layer_norm, Norm::Layer, true, false)
RESID_TYPES(add_rms_norm, Norm::RMS, true, false)
RESID_TYPES(dropout_add_layer_norm, Norm::Layer, true, true)
RESID_TYPES(layer_norm, Norm::Layer, false, false)
RESID_TYPES(rms_norm, Norm::RMS, false, false)

// Other orders of work, for add + norms.
#define RESID_ROWS(NAME, ...)                                                                                          \
  RESID_KERNEL(NAME##_pipelined, __VA_ARGS__, Stores::Streamed, Rows::Pipelined)                                       \
  RESID_KERNEL(NAME##_pipelined_ahead, __VA_ARGS__, Stores::StreamedAhead, Rows::Pipelined)                            \
  RESID_KERNEL(NAME##_paired, __VA_ARGS__, Stores::Streamed, Rows::Paired)                                             \
  RESID_KERNEL(NAME##_paired_ahead, __VA_ARGS__, Stores::StreamedAhead, Rows::Paired)
RESID_ROWS(add_layer_norm_f32, F32, Norm::Layer, true, false)
RESID_ROWS(add_layer_norm_bf16, BF16, Norm::Layer, true, false)
RESID_ROWS(add_rms_norm_f32, F32, Norm::RMS, true, false)
RESID_ROWS(add_rms_norm_bf16, BF16, Norm::RMS, true, false)
RESID_KERNEL(add_layer_norm_bf16_wide_scratch, BF16, Norm::Layer, true, false, Stores::StreamedAhead, Rows::Wide)
RESID_KERNEL(add_rms_norm_bf16_wide_scratch, BF16, Norm::RMS, true, false, Stores::StreamedAhead, Rows::Wide)

/// The random numbers alone, for rows times width elements, without memory: what they are is folded into the 64 bytes
/// at `sink`.
extern "C" RESID_API int32_t RESID_FOR_ISA(hand_philox)(int64_t rows, int64_t width, int64_t seed, int64_t step,
                                                        uint64_t *sink) {
  Philox philox(static_cast<uint64_t>(seed), 0, static_cast<uint32_t>(step));
  Integers folded = setAll64(0);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < width; column += kChunk) {
      RandomWords words = philox.generate(row, column);
      folded = xorThree(folded, words.pair[0], words.pair[1]);
    }
  storeBits(sink, folded);
  return RESID_OK;
}
