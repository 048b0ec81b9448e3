// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How fast the GPU of this machine multiplies and adds in f32 without memory: nvcc -O2 ffma.cu -o ffma && ./ffma

#include <cstdio>

static constexpr int kBlocks = 132 * 8, kThreads = 256, kChains = 16, kTerms = 4096, kLaunches = 20;

__global__ void multiplyAndAdd(float *out, float a, float b) {
  float x[kChains], sum = 0;
  for (int i = 0; i < kChains; ++i)
    x[i] = threadIdx.x + i;
  for (int term = 0; term < kTerms; ++term)
#pragma unroll
    for (int i = 0; i < kChains; ++i)
      x[i] = fmaf(x[i], a, b);
  for (int i = 0; i < kChains; ++i)
    sum += x[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  float *out, milliseconds = 0;
  cudaMalloc(&out, sizeof(float) * kBlocks * kThreads);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int run = 0; run < 5; ++run) {
    cudaEventRecord(begin);
    for (int i = 0; i < kLaunches; ++i)
      multiplyAndAdd<<<kBlocks, kThreads>>>(out, 1.0001f, 0.5f);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, begin, end);
    std::printf("%.2f TFLOP/s\n", 2.0 * kChains * kTerms * kBlocks * kThreads * kLaunches / milliseconds / 1e9);
  }
}
