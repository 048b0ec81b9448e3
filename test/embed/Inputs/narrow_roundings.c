// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every upper half of a f32 with lower halves at and beside the ties, rounded to bf16 by the functions under test,
// whose bits must be those of the definition: to nearest, ties to even, NaNs quiet with the upper bits of their
// payload. The numbers stand in order, so that most steps have no NaN and some have nothing else, and then shuffled.

#include "narrow.h"
#include <stdio.h>
#include <string.h>

static const uint16_t lowerHalves[] = {0, 1, 2, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0x8002, 0xFFFE, 0xFFFF};
enum { LOWER = sizeof lowerHalves / sizeof *lowerHalves, COUNT = 65536 * LOWER };

static union {
  uint32_t bits[COUNT];
  float numbers[COUNT];
} input;
static uint16_t other[COUNT], narrowed[COUNT], sums[COUNT];

static uint16_t roundToBF16(uint32_t bits) {
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return (uint16_t)((bits >> 16) | 0x40);
  return (uint16_t)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

static int compare(const char *order, int64_t width, int64_t count) {
  int failures = 0;
  for (int64_t i = 0; i < count; ++i)
    if (narrowed[i] != roundToBF16(input.bits[i]) && ++failures <= 3)
      printf("%s, width %d: expected 0x%04X of 0x%08X but got 0x%04X\n", order, (int)width, roundToBF16(input.bits[i]),
             input.bits[i], narrowed[i]);
  memset(narrowed, 0, sizeof narrowed);
  return failures;
}

static int check(const char *order, int64_t width) {
  int64_t rows = COUNT / width;
  if (narrow(NULL, input.numbers, rows, width, other, rows, width, narrowed, sums) != RESID_OK)
    return 1;
  int failures = compare(order, width, rows * width);
  if (narrow_alone(NULL, input.numbers, rows, width, narrowed) != RESID_OK)
    return 1;
  return failures + compare(order, width, rows * width);
}

static void shuffle(void) {
  uint32_t state = 1;
  for (int i = COUNT - 1; i > 0; --i) {
    state = state * 1664525u + 1013904223u;
    int j = (int)(((uint64_t)state * (uint64_t)(i + 1)) >> 32);
    uint32_t kept = input.bits[i];
    input.bits[i] = input.bits[j];
    input.bits[j] = kept;
  }
}

int main(void) {
  static const int64_t widths[] = {LOWER, 64, 99, 1024};
  int failures = 0;
  for (int i = 0; i < COUNT; ++i)
    input.bits[i] = (uint32_t)(i / LOWER) << 16 | lowerHalves[i % LOWER];
  for (int i = 0; i < 4; ++i)
    failures += check("in order", widths[i]);
  shuffle();
  for (int i = 0; i < 4; ++i)
    failures += check("shuffled", widths[i]);
  printf("%d failures\n", failures);
  return failures != 0;
}
