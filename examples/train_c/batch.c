/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reads the text, and takes rows from it. */
#include "batch.h"

#include "state.h"

#include <stdio.h>
#include <stdlib.h>

int read_text(const char *path, row_shape shape, text *read) {
  /* A tenth is kept aside, and has places too. */
  int64_t least = 20 * shape.window;
  FILE *file = fopen(path, "rb");
  int good = file && !fseek(file, 0, SEEK_END) && (read->count = ftell(file)) >= least && !fseek(file, 0, SEEK_SET);
  unsigned char *bytes = good ? malloc((size_t)read->count) : NULL;
  read->bytes = bytes;
  good = bytes && fread(bytes, 1, (size_t)read->count, file) == (size_t)read->count;
  if (file)
    fclose(file);
  if (!good)
    fprintf(stderr, "expected a text of %lld bytes or more in %s\n", (long long)least, path);
  return good;
}

int make_batch(batch *made, row_shape shape, int64_t rows) {
  int64_t losses = rows * shape.predicted;
  made->shape = shape;
  made->rows = rows;
  made->windows = malloc((size_t)(rows * shape.window) * sizeof(int32_t));
  made->next = malloc((size_t)losses * sizeof(int32_t));
  made->losses = malloc((size_t)losses * sizeof(float));
  made->shares = malloc((size_t)losses * sizeof(float));
  if (!made->windows || !made->next || !made->losses || !made->shares)
    return 0;
  /* The gradient of the mean by each loss. */
  for (int64_t i = 0; i < losses; ++i)
    made->shares[i] = 1.0f / (float)losses;
  return 1;
}

void end_batch(batch *ended) {
  free(ended->windows);
  free(ended->next);
  free(ended->losses);
  free(ended->shares);
}

void fill_batch(batch *filled, const text *from, uint64_t seed, int64_t number) {
  int64_t window = filled->shape.window, predicted = filled->shape.predicted;
  for (int64_t row = 0; row < filled->rows; ++row) {
    uint64_t random = draw(seed, (uint64_t)(number * filled->rows + row));
    int64_t place = window + (int64_t)(random % (uint64_t)(from->count - window));
    for (int64_t i = 0; i < window; ++i)
      filled->windows[row * window + i] = from->bytes[place - window + i];
    for (int64_t i = 0; i < predicted; ++i)
      filled->next[row * predicted + i] = from->bytes[place + 1 - predicted + i];
  }
}

double take_mean(const batch *of) {
  double sum = 0;
  for (int64_t i = 0; i < of->rows * of->shape.predicted; ++i)
    sum += of->losses[i];
  return sum / (double)(of->rows * of->shape.predicted);
}
