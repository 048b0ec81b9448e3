// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the status of a call on pointers, then of one on DLPack tensors, for which the answer about the processor was kept. A
// wrong result is printed as 1.

#include "processor.h"

#include <stdio.h>
#include <string.h>

static resid_status scale_tensors(float *x, int64_t size, float *y) {
  float *data[2];
  DLTensor tensors[2];
  const DLTensor *args[2] = {&tensors[0], &tensors[1]};
  int i;
  data[0] = x, data[1] = y;
  memset(tensors, 0, sizeof(tensors));
  for (i = 0; i < 2; ++i) {
    tensors[i].data = data[i];
    tensors[i].device.device_type = kDLCPU;
    tensors[i].ndim = 1;
    tensors[i].dtype.code = kDLFloat, tensors[i].dtype.bits = 32, tensors[i].dtype.lanes = 1;
    tensors[i].shape = &size;
  }
  return scale_dl(NULL, args, 2);
}

int main(void) {
  float x[100], y[100];
  int call, i;
  for (call = 0; call < 2; ++call) {
    resid_status status;
    for (i = 0; i < 100; ++i) {
      x[i] = (float)i;
      y[i] = 0;
    }
    status = call == 0 ? scale(NULL, x, 100, y) : scale_tensors(x, 100, y);
    for (i = 0; i < 100; ++i)
      if (y[i] != (status == RESID_OK ? 1.5f * (float)i : 0.0f))
        status = 1;
    printf("%d\n", (int)status);
  }
  return 0;
}
