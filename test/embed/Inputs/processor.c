// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the status of a call, twice: the answer about the processor is kept. A wrong result is printed as 1.

#include "processor.h"

#include <stdio.h>

int main(void) {
  float x[100], y[100];
  int call, i;
  for (call = 0; call < 2; ++call) {
    resid_status status;
    for (i = 0; i < 100; ++i) {
      x[i] = (float)i;
      y[i] = 0;
    }
    status = scale(NULL, x, 100, y);
    for (i = 0; i < 100; ++i)
      if (y[i] != (status == RESID_OK ? 1.5f * (float)i : 0.0f))
        status = 1;
    printf("%d\n", (int)status);
  }
  return 0;
}
