/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Flags of the form --NAME=VALUE. */
#ifndef TRAIN_FLAGS_H
#define TRAIN_FLAGS_H

#include <stddef.h>
#include <stdint.h>

/* One flag, and where its value goes: to the one of the three that is there. */
typedef struct {
  const char *name, **text;
  int64_t *number;
  double *real;
} flag;

/* 0 where the argument is none of the flags, or its value is wrong. */
int read_flag(const flag *known, size_t count, const char *argument);

#endif
