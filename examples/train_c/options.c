/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reads the flags. */
#include "options.h"

#include "flags.h"
#include "resid_runtime.h"

#include <stdio.h>

static int read_argument(options *read, const char *argument) {
  const flag known[] = {{"--steps", NULL, &read->steps, NULL},     {"--rows", NULL, &read->rows, NULL},
                        {"--threads", NULL, &read->threads, NULL}, {"--warm-up", NULL, &read->warm_up, NULL},
                        {"--rate", NULL, NULL, &read->rate},       {"--checkpoint", &read->checkpoint, NULL, NULL},
                        {"--csv", &read->csv, NULL, NULL},         {"--svg", &read->svg, NULL, NULL}};
  if (argument[0] != '-' && !read->text) {
    read->text = argument;
    return 1;
  }
  return read_flag(known, sizeof(known) / sizeof(*known), argument);
}

int read_options(int argc, char **argv, options *read) {
  *read = (options){.steps = 300, .rows = 256, .threads = 1, .warm_up = 20, .rate = 2e-3};
  int good = 1;
  for (int i = 1; good && i < argc; ++i)
    good = read_argument(read, argv[i]);
  good = good && read->text && read->steps > 0 && read->rows > 0 && read->threads >= 0 &&
         read->threads <= RESID_MAX_THREADS && read->warm_up >= 0 && read->rate > 0 && (!read->svg || read->csv);
  if (!good)
    fprintf(stderr,
            "usage: %s TEXT [--steps=N] [--rows=N] [--threads=N] [--rate=R] [--warm-up=N] [--checkpoint=FILE]\n"
            "       [--csv=FILE [--svg=FILE]]\n",
            argv[0]);
  return good;
}
