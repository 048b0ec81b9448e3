// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls a linear layer of integers on arrays that test/run/Inputs/integer_products.py has written, in the folder that the
// program runs in, and compares all bytes of the result.

#include "odd.h"
#include "resid_runtime.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

static std::vector<char> readArray(const char *name) {
  std::ifstream file(name, std::ios::binary);
  std::vector<char> all{std::istreambuf_iterator<char>(file), {}};
  constexpr int header = 128;
  return {all.begin() + header, all.end()};
}

template <typename T> static const T *as(const std::vector<char> &data) {
  return reinterpret_cast<const T *>(data.data());
}

int main() {
  std::vector<char> x = readArray("odd.x.npy"), w = readArray("odd.w.npy"), rows = readArray("odd.r.npy"),
                    columns = readArray("odd.c.npy"), bias = readArray("odd.b.npy"), expected = readArray("odd.y.npy");
  std::vector<char> y(expected.size());
  resid_ctx context;
  resid_ctx_init(&context, nullptr);
  resid_status status = known(&context, as<int8_t>(x), as<int8_t>(w), as<float>(rows), as<float>(columns),
                              as<float>(bias), reinterpret_cast<float *>(y.data()));
  bool isEqual = status == RESID_OK && y == expected;
  std::printf("%s\n", isEqual ? "the bytes of Python" : "other bytes");
  return isEqual ? 0 : 1;
}
