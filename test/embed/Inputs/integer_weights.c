// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls linear layers with weights of 8 and 4 bits on arrays that test/run/Inputs/integer_weights.py has written, in the
// folder that the program runs in, and compares all bytes of their results.

#include "i4.h"
#include "i8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 128, ROWS = 3, OUT = 19 };

/// The data of an array, at a place that is aligned to nothing.
static void *read_array(const char *name, const char *part) {
  char path[64];
  snprintf(path, sizeof path, "%s.%s.npy", name, part);
  FILE *file = fopen(path, "rb");
  char *data = malloc(1 << 20);
  if (!file || fread(data, 1, 1 << 20, file) <= HEADER) {
    printf("%s cannot be read\n", path);
    exit(1);
  }
  fclose(file);
  return data + HEADER;
}

static int failures;

static void compare(const char *name, const float *y, resid_status status) {
  if (status == RESID_OK && memcmp(y, read_array(name, "expected"), ROWS * OUT * sizeof(float)) == 0)
    return;
  printf("%s: status %d, or other bits\n", name, (int)status);
  ++failures;
}

#define COMPARE(BITS)                                                                                                  \
  do {                                                                                                                 \
    float y[ROWS * OUT];                                                                                               \
    compare("scaled" #BITS, y,                                                                                         \
            p##BITS##_scaled(NULL, read_array("scaled" #BITS, "x"), ROWS, read_array("scaled" #BITS, "q"),            \
                             read_array("scaled" #BITS, "s"), y));                                                     \
    compare("zeros" #BITS, y,                                                                                          \
            p##BITS##_zeros(NULL, read_array("zeros" #BITS, "x"), ROWS, read_array("zeros" #BITS, "q"),               \
                            read_array("zeros" #BITS, "s"), read_array("zeros" #BITS, "t"), y));                       \
    compare("offsets" #BITS, y,                                                                                        \
            p##BITS##_offsets(NULL, read_array("offsets" #BITS, "x"), ROWS, read_array("offsets" #BITS, "q"), OUT,    \
                              read_array("offsets" #BITS, "s"), OUT, read_array("offsets" #BITS, "t"), OUT, y));       \
  } while (0)

int main(void) {
  COMPARE(8);
  COMPARE(4);
  printf("%d failures\n", failures);
  return failures != 0;
}
