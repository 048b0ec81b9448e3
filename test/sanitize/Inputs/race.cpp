// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A race on purpose: two threads write the last and the first row of 2 x 64 elements with one kernel. With an argument,
// they write the same row, else different ones. What ThreadSanitizer says of it shows whether it sees what kernels do.

#include "race.h"

#include <thread>

int main(int argc, char **) {
  static float x[128], y[128];
  auto writeRow = [](float *result) {
    if (race(nullptr, x, 1, 64, result) != RESID_OK)
      __builtin_trap();
  };
  std::thread first(writeRow, y), second(writeRow, argc > 1 ? y : y + 64);
  first.join();
  second.join();
}
