/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The curve of the loss, as a table and as a drawing. */
#ifndef TRAIN_CURVE_H
#define TRAIN_CURVE_H

#include <stdint.h>

/* Adds a line to a CSV file, which begins anew at step 0. 0 where it cannot be written. */
int add_to_curve(const char *path, int64_t step, double loss);

/* Draws the table in an SVG file. 0 where one of the files cannot be used. */
int draw_curve(const char *csv, const char *svg);

#endif
