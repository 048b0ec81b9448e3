/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls every function of names.mlir. Compiled as C11 and as C++11, with library headers before and after. */

#include <math.h>
#include <stdlib.h>

#include "names.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

static float a[3], b[3], sum[3];

static void check(resid_status status, const char *name) {
  if (status == RESID_OK && sum[0] == 5 && sum[2] == 9)
    return;
  printf("%s: status %d\n", name, (int)status);
  ++failures;
}

#define CHECK(name)                                                                                                    \
  memset(sum, 0, sizeof(sum));                                                                                         \
  check(name(NULL, a, 3, b, 3, sum), #name);                                                                           \
  if (name##_scratch_bytes(3, 3) != 0 || name##_info()->abi_version != RESID_ABI_VERSION)                              \
  ++failures

int main(void) {
  void *memory = malloc(8);
  a[0] = 1, a[1] = 2, a[2] = 3, b[0] = 4, b[1] = 5, b[2] = 6;
  CHECK(main_);
  CHECK(class_);
  CHECK(int_);
  CHECK(exp_);
  CHECK(malloc_);
  CHECK(memcpy_);
  CHECK(RESID_API_);
  CHECK(RESID_OK_);
  CHECK(DLTensor_);
  CHECK(kDLCPU_);
  CHECK(INT64_MAX_);
  CHECK(resid_status_);
  CHECK(resid_alloc_);
  CHECK(resid_dl_read_);
  CHECK(resid_cpu_choice_);
  CHECK(__linux___);
  CHECK(ordinary);
  /* What the library's names mean is the library's. */
  if (exp(0.0) != 1.0 || memory == NULL)
    ++failures;
  free(memory);
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
