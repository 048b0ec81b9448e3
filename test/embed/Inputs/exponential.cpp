// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares exp of exponential.mlir with the exponential of attention_loops.h, bit by bit, wherever attention takes it:
// for numbers that are not positive. Argument: `split` where the processor compiled for has no fused multiply-add.

#include "exponential.h"
#include "attention_loops.h"

#include <cstdio>
#include <vector>

template <typename T, typename Bits, typename Call>
static void compare(const char *name, Bits first, Bits last, Bits step, Call call) {
  std::vector<T> x, y;
  for (Bits bits = first; last - bits >= step; bits += step) {
    T value;
    memcpy(&value, &bits, sizeof(value));
    x.push_back(value);
  }
  y.resize(x.size());
  if (call(nullptr, x.data(), static_cast<int64_t>(x.size()), y.data()) != RESID_OK)
    printf("%s: failed\n", name);
  int64_t others = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    T flushed = y[i] < std::numeric_limits<T>::min() ? T(0) : y[i], expected = flushedExp(x[i]);
    bool isSame = memcmp(&flushed, &expected, sizeof(T)) == 0 || (std::isnan(flushed) && std::isnan(expected));
    if (!isSame && ++others <= 5)
      printf("%s of %a: expected %a but got %a\n", name, x[i], expected, flushed);
  }
  printf("%s: %zu numbers, %lld other bits\n", name, x.size(), static_cast<long long>(others));
}

int main(int argc, char **) {
  isSplit = argc > 1;
  // From -0 through -Inf into the NaNs, and where exp is neither 1 nor 0 once more, more densely.
  compare<float, uint32_t>("exp_f32", 0x80000000, 0xFFFFFFFF, 5003, exp_f32);
  compare<float, uint32_t>("exp_f32", 0xB3000000, 0xC2D20000, 1021, exp_f32);
  compare<double, uint64_t>("exp_f64", 0x8000000000000000, 0xFFFFFFFFFFFFFFFF, 0x12345678F0001, exp_f64);
  compare<double, uint64_t>("exp_f64", 0xBC90000000000000, 0xC087500000000000, 0x32345678D001, exp_f64);
}
