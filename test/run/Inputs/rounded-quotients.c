/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * rounded-quotients PARTS: compares the integers of resid.quantize with true divisions, for the two numbers of f32 beside each
 * place where the rounded quotient becomes or leaves a half. Divisors are all numbers of one binade, in 4096 parts, of
 * which PARTS are tried. Other binades differ in exponents alone. */

#include "integers.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kParts = 4096, kRows = (1 << 23) / kParts, kColumns = 508 };
static float x[kRows][kColumns], scale[kRows];
static int8_t q[kRows][kColumns];

int main(int count, char **words) {
  int64_t tried = 0, different = 0, different_by_one_product = 0;
  for (int part = 0; part < (count > 1 ? atoi(words[1]) : 0); ++part) {
    for (int row = 0; row < kRows; ++row) {
      scale[row] = 1.0f + (float)(row * kParts + part) / (1 << 23);
      for (int half = 0; half < kColumns / 4; ++half)
        for (int side = 0; side < 2; ++side) {
          /* Quotients are rounded to a half between the middles of it and its neighbours. The place is exact: 25 bits by 24. */
          double middle = ((double)(half + 0.5f) + nextafterf(half + 0.5f, side ? 999.0f : 0.0f)) / 2;
          double place = middle * scale[row];
          float below = (float)place <= place ? (float)place : nextafterf((float)place, 0.0f);
          float *pair = &x[row][4 * half + 2 * side];
          pair[0] = half % 3 ? below : -below;
          pair[1] = nextafterf(pair[0], half % 3 ? INFINITY : -INFINITY);
        }
    }
    if (integers(NULL, &x[0][0], kRows, scale, kRows, &q[0][0]) != RESID_OK)
      return 2;
    for (int row = 0; row < kRows; ++row)
      for (int column = 0; column < kColumns; ++column, ++tried) {
        float expected = rintf(x[row][column] / scale[row]);
        different += q[row][column] != expected;
        different_by_one_product += rintf(x[row][column] * (1.0f / scale[row])) != expected;
      }
  }
  printf("%lld quotients: %lld integers differ, %lld would with a product alone\n", (long long)tried, (long long)different,
         (long long)different_by_one_product);
  return different != 0;
}
