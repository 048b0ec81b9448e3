// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C functions of the column sums by hand, of the form that Kernels.cpp describes: `y` gets one f32 per column, and
// what stands in the place of the stores is the order of the sum. RESID_BAD_SHAPE where the width is no multiple of 64.

#include "benchmarks/handwritten/ColumnSums.h"
#include "benchmarks/handwritten/RowKernel.h"
#include "runtime/resid.h"

using namespace resid::handwritten::RESID_ISA;

namespace {

/// As in compiled kernels.
constexpr int64_t kTaskElements = 32768;

template <typename Element> struct Tasks {
  ColumnSums<Element> sums;
  int64_t taskLanes;

  void run(int64_t task) {
    float buffer[3 * kLargestWidth];
    int64_t first = task * taskLanes, last = std::min(first + taskLanes, sums.countLanes());
    for (int64_t lane = first; lane < last; ++lane)
      sums.addLane(lane, buffer);
  }
};

template <typename Element>
int32_t sumColumns(const resid_ctx *context, Order order, const void *x, void *result, int64_t rows, int64_t width) {
  if (rows < 1 || width < 1 || width > kLargestWidth || width % 64 != 0)
    return RESID_BAD_SHAPE;
  static std::vector<double> memory; // one call at a time, as the harness makes them
  ColumnSums<Element> sums(static_cast<const Element *>(x), rows, width, order, memory);
  int64_t lanes = sums.countLanes(), elements = (rows + lanes - 1) / lanes * width;
  int64_t taskLanes = std::max<int64_t>(1, (kTaskElements + elements - 1) / elements);
  int64_t count = (lanes + taskLanes - 1) / taskLanes;
  Tasks<Element> tasks{sums, taskLanes};
  auto run = [](void *argument, int64_t task) { static_cast<Tasks<Element> *>(argument)->run(task); };
  if (context && context->parallel_for && count > 1)
    context->parallel_for(context->user, count, run, &tasks);
  else
    for (int64_t task = 0; task < count; ++task)
      tasks.run(task);
  sums.finish(static_cast<float *>(result));
  return RESID_OK;
}

} // namespace

#define RESID_SUMS(TYPE, ELEMENT, NAME, ORDER)                                                                         \
  extern "C" RESID_API int32_t RESID_FOR_ISA(hand_column_sums_##TYPE##_##NAME)(                                        \
      const resid_ctx *ctx, const void *x, const void *, const void *, const void *, void *y, void *, int64_t rows,    \
      int64_t width, int64_t, int64_t) {                                                                               \
    return sumColumns<ELEMENT>(ctx, Order::ORDER, x, y, rows, width);                                                  \
  }
#define RESID_SUMS_OF_TYPES(NAME, ORDER)                                                                               \
  RESID_SUMS(f32, float, NAME, ORDER)                                                                                  \
  RESID_SUMS(bf16, uint16_t, NAME, ORDER)

RESID_SUMS_OF_TYPES(cascade, Cascade)
RESID_SUMS_OF_TYPES(running, Running)
RESID_SUMS_OF_TYPES(per_lane, PerLane)
RESID_SUMS_OF_TYPES(groups_32, Group32)
RESID_SUMS_OF_TYPES(groups_64, Group64)
RESID_SUMS_OF_TYPES(groups_128, Group128)
RESID_SUMS_OF_TYPES(groups_256, Group256)
RESID_SUMS_OF_TYPES(wide, Wide)
