/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lookups inside and outside of a table that ends before a page which may not be read. */
#define _GNU_SOURCE
#include "lookups.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { ROWS = 50, WIDTH = 8, PAGE = 4096 };
static int failures;

static void expect(int condition, const char *what) {
  if (!condition) {
    ++failures;
    printf("wrong: %s\n", what);
  }
}

int main(void) {
  char *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE);
  float *table = (float *)(pages + 2 * PAGE) - ROWS * WIDTH, y[6 * WIDTH];
  for (int i = 0; i < ROWS * WIDTH; ++i)
    table[i] = (float)i;
  int64_t ids[3] = {0, ROWS - 1, 7}, bad[] = {ROWS, -1, INT64_MAX, INT64_MIN};
  expect(embed(NULL, ids, 3, table, y) == RESID_OK, "status of a lookup");
  for (int i = 0; i < 3; ++i)
    expect(!memcmp(y + i * WIDTH, table + ids[i] * WIDTH, sizeof(float) * WIDTH), "a row of the table");
  for (int i = 0; i < 4; ++i)
    for (int place = 0; place < 3; ++place) {
      int64_t some[3] = {3, 4, 5};
      some[place] = bad[i];
      expect(embed(NULL, some, 3, table, y) == RESID_BAD_VALUE, "a number outside of the table");
    }
  int32_t pairs[6] = {0, 1, 2, 3, ROWS - 1, 5};
  expect(embed_any(NULL, pairs, 3, table, ROWS, y) == RESID_OK, "status of a lookup in a table of any size");
  expect(!memcmp(y + 4 * WIDTH, table + pairs[4] * WIDTH, sizeof(float) * WIDTH), "a row of a table of any size");
  expect(embed_any(NULL, pairs, 3, table, ROWS - 1, y) == RESID_BAD_VALUE, "a number outside of a smaller table");
  pairs[0] = INT32_MIN;
  expect(embed_any(NULL, pairs, 3, table, ROWS, y) == RESID_BAD_VALUE, "a negative number");
  memset(y, 1, sizeof(y));
  float kept = y[0];
  expect(embed_any(NULL, pairs, 3, NULL, 0, y) == RESID_BAD_VALUE && y[0] == kept, "an empty table: nothing is written");
  expect(embed_any(NULL, NULL, 0, NULL, 0, y) == RESID_OK, "no numbers, no table");
  printf("%d failures\n", failures);
  return failures != 0;
}
