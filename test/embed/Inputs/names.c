/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls every function of names.mlir. Compiled as C and as C++, with library headers before and after; <complex.h> is
 * C's alone. */

#ifndef __cplusplus
#include <complex.h>
#include <stdnoreturn.h>
#endif
#include <math.h>
#include <stdlib.h>
#include <sys/select.h>
#include <unistd.h>

#include "names.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

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
  CHECK(resid_dl_read);
  CHECK(resid_cpu_choice_);
  CHECK(__linux___);
  CHECK(select_);
  CHECK(connect_);
  CHECK(signal_);
  CHECK(index_);
  CHECK(gamma_);
  CHECK(y0_);
  CHECK(stdin_);
  CHECK(environ_);
  CHECK(isnan_);
  CHECK(_start_);
  CHECK(ptrdiff_t_);
  CHECK(FILE_);
  CHECK(gettid_);
  CHECK(PTRDIFF_MAX_);
  CHECK(concept_);
  CHECK(co_await_);
  CHECK(char8_t_);
  CHECK(typeof_unqual_);
  CHECK(ordinary);
  /* What the library's names mean is the library's. */
  if (exp(0.0) != 1.0 || memory == NULL)
    ++failures;
  free(memory);
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
