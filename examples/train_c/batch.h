/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Places of a text, for a model to learn from. */
#ifndef TRAIN_BATCH_H
#define TRAIN_BATCH_H

#include <stdint.h>

typedef struct {
  const unsigned char *bytes;
  int64_t count;
} text;

/* What one row of a batch has: the bytes that the model reads, and how many it predicts: the last of them is the one
 * after those that it reads. */
typedef struct {
  int64_t window, predicted;
} row_shape;

/* Rows from random places: what stands before each, the bytes to predict, what is said of them, and how much each loss
 * counts. */
typedef struct {
  row_shape shape;
  int64_t rows;
  int32_t *windows, *next;
  float *losses, *shares;
} batch;

/* 0 where the file cannot be read or is too short for rows of this shape. */
int read_text(const char *path, row_shape shape, text *read);

/* 0 where memory is short. */
int make_batch(batch *made, row_shape shape, int64_t rows);
void end_batch(batch *ended);

/* Takes the places with the numbers from number·rows on. */
void fill_batch(batch *filled, const text *from, uint64_t seed, int64_t number);

double take_mean(const batch *of);

#endif
