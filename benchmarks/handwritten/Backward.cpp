// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C functions of the backward by hand, all of one form:
//   int32_t <instructions>_hand_<kernel>_backward_<type>_<stores>(const resid_ctx *ctx, const void *x, const void *dy,
//       const void *dsum, const void *gamma, const float *mean, const float *correction, const float *rstd, void *dx,
//       void *df, void *dgamma, void *dbeta, int64_t rows, int64_t width, int64_t seed, int64_t step)
// x is what was normalised. They answer 0, or RESID_BAD_SHAPE where the width is not one they take. Tasks are lanes of
// the sums down the rows, as in compiled kernels.

#include "benchmarks/handwritten/BackwardKernel.h"
#include "benchmarks/handwritten/ParameterSums.h"
#include "runtime/resid.h"

using namespace resid::handwritten::RESID_ISA;

namespace {

/// As in compiled kernels.
constexpr int64_t kTaskElements = 32768;

template <typename Traits> struct Tasks {
  using Element = typename Traits::Type::Element;
  Arrays<Element> arrays;
  BackwardInputs<Element> inputs;
  Philox philox;
  ParameterSums<Traits::norm == Norm::Layer ? 2 : 1> sums;
  int64_t taskLanes;

  void run(int64_t task) const {
    alignas(64) Element scratch[Traits::streams ? BackwardKernel<Traits>::kScratchRows * kLargestWidth : 1];
    alignas(64) float levels[3 * 2 * (kLargestWidth + kChunk)];
    BackwardKernel<Traits> kernel(arrays, inputs, &philox, scratch);
    int64_t first = task * taskLanes, last = std::min(first + taskLanes, sums.countLanes());
    for (int64_t lane = first; lane < last; ++lane)
      sums.addLane(lane, levels,
                   [&](int64_t low, int64_t high, float *gamma, float *beta) { kernel.run(low, high, gamma, beta); });
  }
};

template <typename Traits>
int32_t runKernel(const resid_ctx *context, const Arrays<typename Traits::Type::Element> &arrays,
                  const BackwardInputs<typename Traits::Type::Element> &inputs, void *dgamma, void *dbeta, int64_t rows,
                  int64_t seed, int64_t step) {
  using Element = typename Traits::Type::Element;
  int64_t width = arrays.width;
  if (rows < 1 || width < 1 || width > kLargestWidth)
    return RESID_BAD_SHAPE;
  static std::vector<double> memory; // one call at a time, as the harness makes them
  Tasks<Traits> tasks{
      arrays, inputs, Philox(static_cast<uint64_t>(seed), 0, static_cast<uint32_t>(step)), {rows, width, memory}, 1};
  int64_t lanes = tasks.sums.countLanes(), elements = (rows + lanes - 1) / lanes * width;
  tasks.taskLanes = std::max<int64_t>(1, (kTaskElements + elements - 1) / elements);
  int64_t count = (lanes + tasks.taskLanes - 1) / tasks.taskLanes;
  auto run = [](void *argument, int64_t task) { static_cast<const Tasks<Traits> *>(argument)->run(task); };
  if (context && context->parallel_for && count > 1)
    context->parallel_for(context->user, count, run, &tasks);
  else
    for (int64_t task = 0; task < count; ++task)
      tasks.run(task);
  tasks.sums.template finish<typename Traits::Type>(static_cast<Element *>(dgamma), static_cast<Element *>(dbeta),
                                                    width);
  return RESID_OK;
}

} // namespace

#define RESID_BACKWARD(NAME, TYPE, ...)                                                                                \
  extern "C" RESID_API int32_t RESID_FOR_ISA(hand_##NAME)(                                                             \
      const resid_ctx *ctx, const TYPE::Element *x, const TYPE::Element *dy, const TYPE::Element *dsum,                \
      const TYPE::Element *gamma, const float *mean, const float *correction, const float *rstd, TYPE::Element *dx,    \
      TYPE::Element *df, void *dgamma, void *dbeta, int64_t rows, int64_t width, int64_t seed, int64_t step) {         \
    return runKernel<KernelTraits<TYPE, __VA_ARGS__>>(                                                                 \
        ctx, {x, dy, gamma, nullptr, dx, df, width}, {dsum, mean, correction, rstd}, dgamma, dbeta, rows, seed, step); \
  }
#define RESID_STORES(NAME, ...)                                                                                        \
  RESID_BACKWARD(NAME##_plain, __VA_ARGS__, Stores::Plain)                                                             \
  RESID_BACKWARD(NAME##_streamed, __VA_ARGS__, Stores::Streamed)                                                       \
  RESID_BACKWARD(NAME##_streamed_ahead, __VA_ARGS__, Stores::StreamedAhead)
#define RESID_TYPES(NAME, ...)                                                                                         \
  RESID_STORES(NAME##_f32, F32, __VA_ARGS__)                                                                           \
  RESID_STORES(NAME##_bf16, BF16, __VA_ARGS__)

RESID_TYPES(layer_norm_backward, Norm::Layer, false, false)
RESID_TYPES(rms_norm_backward, Norm::RMS, false, false)
RESID_TYPES(dropout_add_layer_norm_backward, Norm::Layer, true, true)
