/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The flags of the program. */
#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H

#include <stdint.h>

typedef struct {
  const char *text, *checkpoint, *csv, *svg;
  int64_t steps, rows, threads, warm_up;
  double rate;
} options;

/* 0 where the flags are wrong; how they are used is said on the error stream then. */
int read_options(int argc, char **argv, options *read);

#endif
