// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A residual add and a norm as one writes them by hand for NVIDIA GPUs, with the formulas of docs/numerics.md: what
// resid's kernels are compared with. Sums are in any order, and rows that overflow get no second look. A row stays in
// registers. Compiled with ELEMENT (float or __nv_bfloat16), IS_LAYER (0 or 1), WIDTH and THREADS of a row.

#include <cstdint>
#include <cuda_bf16.h>

namespace {

constexpr int kWarpThreads = 32;
constexpr int kWarps = THREADS / kWarpThreads;
constexpr int kRows = kWarps == 1 ? 4 : 1;
constexpr int kMostAccess = 16 / sizeof(ELEMENT);
constexpr int kAccess = WIDTH / THREADS < kMostAccess ? WIDTH / THREADS : kMostAccess;
constexpr int kAccesses = WIDTH / THREADS / kAccess;
static_assert(kAccess * kAccesses * THREADS == WIDTH, "whole accesses");
static_assert(THREADS % kWarpThreads == 0, "whole warps");

struct alignas(sizeof(ELEMENT) * kAccess) Access {
  ELEMENT elements[kAccess];
};

__device__ float widen(float value) { return value; }
__device__ float widen(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ void round(float &to, float value) { to = value; }
__device__ void round(__nv_bfloat16 &to, float value) { to = __float2bfloat16_rn(value); }

/// The sums over a row's threads, in all of them.
template <int Count> __device__ void reduce(float (&sums)[Count], float (*slots)[kWarps]) {
#pragma unroll
  for (int distance = kWarpThreads / 2; distance > 0; distance /= 2)
#pragma unroll
    for (int i = 0; i < Count; ++i)
      sums[i] += __shfl_xor_sync(0xffffffff, sums[i], distance);
  if (kWarps == 1)
    return;
  int thread = threadIdx.x % THREADS;
  if (thread % kWarpThreads == 0)
#pragma unroll
    for (int i = 0; i < Count; ++i)
      slots[i][thread / kWarpThreads] = sums[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    sums[i] = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp)
      sums[i] += slots[i][warp];
  }
}

} // namespace

extern "C" __global__ void __launch_bounds__(THREADS *kRows)
    add_norm(const Access *__restrict__ x, const Access *__restrict__ f, const Access *__restrict__ gamma,
             const Access *__restrict__ beta, Access *__restrict__ y, Access *__restrict__ stream, int rows,
             float epsilon) {
  // One row of a block has the memory where rows have several warps; elsewhere nothing is stored in it.
  __shared__ float slots[3][kWarps];
  int64_t row = int64_t(blockIdx.x) * kRows + threadIdx.x / THREADS;
  if (row >= rows)
    return;
  int thread = threadIdx.x % THREADS;
  constexpr int rowAccesses = WIDTH / kAccess;
  Access terms[kAccesses], kept[kAccesses];
#pragma unroll
  for (int i = 0; i < kAccesses; ++i) {
    kept[i] = x[row * rowAccesses + i * THREADS + thread];
    terms[i] = f[row * rowAccesses + i * THREADS + thread];
  }
  float first[1] = {0};
#pragma unroll
  for (int i = 0; i < kAccesses; ++i) {
#pragma unroll
    for (int j = 0; j < kAccess; ++j) {
      round(kept[i].elements[j], widen(kept[i].elements[j]) + widen(terms[i].elements[j]));
      float value = widen(kept[i].elements[j]);
      first[0] = IS_LAYER ? first[0] + value : fmaf(value, value, first[0]);
    }
    stream[row * rowAccesses + i * THREADS + thread] = kept[i];
  }
  reduce(first, slots);
  float shift = first[0] / float(WIDTH), correction = 0, variance = shift;
  if (IS_LAYER) {
    float second[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < kAccesses; ++i)
#pragma unroll
      for (int j = 0; j < kAccess; ++j) {
        float difference = widen(kept[i].elements[j]) - shift;
        second[0] += difference;
        second[1] = fmaf(difference, difference, second[1]);
      }
    reduce(second, slots + 1);
    correction = second[0] / float(WIDTH);
    variance = fmaf(-correction, correction, second[1] / float(WIDTH));
  }
  float inverse = 1 / sqrtf(variance + epsilon);
#pragma unroll
  for (int i = 0; i < kAccesses; ++i) {
    Access result, scales = gamma[i * THREADS + thread], offsets;
    if (IS_LAYER)
      offsets = beta[i * THREADS + thread];
#pragma unroll
    for (int j = 0; j < kAccess; ++j) {
      float value = widen(kept[i].elements[j]), scale = widen(scales.elements[j]);
      if (IS_LAYER)
        value = fmaf((value - shift - correction) * inverse, scale, widen(offsets.elements[j]));
      else
        value = value * inverse * scale;
      round(result.elements[j], value);
    }
    y[row * rowAccesses + i * THREADS + thread] = result;
  }
}
