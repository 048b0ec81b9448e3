// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same from C++: a kernel with two results, and what a wrong argument is answered with.

#include "inference/mlp/block.h"
#include "resid_runtime.h"

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  const int64_t rows = 3, width = 64;
  std::vector<float> x(rows * width, 1.0f), f(rows * width, 2.0f), gamma(width, 0.5f);
  std::vector<float> normed(rows * width), sum(rows * width);
  resid_status status =
      inference_mlp_block(nullptr, x.data(), rows, f.data(), rows, gamma.data(), normed.data(), sum.data());
  // Every element of the sum is 3, so its norm is 1 and what comes out is gamma.
  bool good = status == RESID_OK;
  for (int64_t i = 0; i < rows * width; ++i)
    good = good && sum[i] == 3.0f && std::fabs(normed[i] - 0.5f) < 1e-6f;
  std::printf("C++: sum and norm %s; compiled for %s\n", good ? "ok" : "FAILED", inference_mlp_block_info()->target);

  status = inference_mlp_block(nullptr, x.data(), rows, f.data(), rows + 1, gamma.data(), normed.data(), sum.data());
  std::printf("C++: other sizes: %s\n", resid_status_string(status));
  return good && status == RESID_BAD_SHAPE ? 0 : 1;
}
