// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libFuzzer target: any bytes are a file of weights of which all that is said is true, or are refused with a reason.
// `make fuzz-weights`; docs/fuzz.md.

#include "test/robust/Inputs/check_weights.h"
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (const char *mistake = resid::robust::checkWeights(reinterpret_cast<const char *>(data), size).mistake) {
    std::fprintf(stderr, "expected that %s\n", mistake);
    abort();
  }
  return 0;
}
