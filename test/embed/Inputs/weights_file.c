// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// weights_file FILE …: fills a struct of weights from each file, and prints a sum over each member, or what is said where
// that fails. The sums come from the memory that the members point at. Compiled as C11 and as C++11.

#include "resid_runtime.h"
#include "weights.h"

#include <stdio.h>
#include <string.h>

static float sum_floats(const float *values, int count) {
  float sum = 0, value;
  int i;
  for (i = 0; i < count; ++i) {
    memcpy(&value, values + i, sizeof(value)); /* at any address */
    sum += value;
  }
  return sum;
}

static unsigned sum_words(const uint16_t *values, int count) {
  unsigned sum = 0;
  uint16_t value;
  int i;
  for (i = 0; i < count; ++i) {
    memcpy(&value, values + i, sizeof(value));
    sum += value;
  }
  return sum;
}

int main(int argc, char **argv) {
  int i;
  for (i = 1; i < argc; ++i) {
    char text[512];
    const float folded[8] = {0};
    resid_weights *file;
    model_weights weights;
    resid_status status = resid_weights_open(argv[i], &file, text, sizeof(text));
    if (status != RESID_OK) {
      printf("%d %s%s\n", (int)status, text, file ? " (NOT NULL)" : "");
      continue;
    }
    weights.folded = folded;
    weights.gamma = NULL;
    status = resid_weights_fill(file, model_weight_list(), &weights, sizeof(weights), text, sizeof(text));
    if (status == RESID_OK)
      printf("%d tensors: %g %u %g %d%s\n", (int)resid_weights_count(file), (double)sum_floats(weights.gamma, 8),
             sum_words(weights.proj, 64), (double)sum_floats(weights.class_, 8), weights.empty != NULL,
             weights.folded == folded ? "" : " (OTHER)");
    else
      printf("%d %s%s\n", (int)status, text, weights.gamma ? " (FILLED)" : "");
    resid_weights_close(file);
  }
  return 0;
}
