/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reads one flag. */
#include "flags.h"

#include <stdlib.h>
#include <string.h>

static int read_value(const flag *known, const char *value) {
  char *end = "";
  if (known->text)
    *known->text = value;
  else if (known->number)
    *known->number = strtoll(value, &end, 10);
  else
    *known->real = strtod(value, &end);
  return *value && !*end;
}

int read_flag(const flag *known, size_t count, const char *argument) {
  const char *value = strchr(argument, '=');
  for (size_t k = 0; value && k < count; ++k)
    if (strlen(known[k].name) == (size_t)(value - argument) &&
        !strncmp(known[k].name, argument, (size_t)(value - argument)))
      return read_value(&known[k], value + 1);
  return 0;
}
