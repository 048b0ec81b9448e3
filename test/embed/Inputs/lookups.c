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

/* Three pages, of which only the middle one may be touched: where it ends. */
static char *mapPage(void) {
  char *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE);
  return pages + 2 * PAGE;
}

/* Scratch memory ends there too. */
static void *allocate(void *user, size_t bytes, size_t alignment) {
  (void)alignment;
  return (char *)user - bytes;
}
static void release(void *user, void *pointer) {
  (void)user;
  (void)pointer;
}

/* `table` ends before a page which may not be touched: as an output, and as what is sliced. */
static void testSlices(float *table) {
  resid_ctx context = RESID_CTX_INIT;
  context.user = mapPage();
  context.alloc = allocate;
  context.free = release;
  float into[ROWS * WIDTH] = {0}, rows[(ROWS + 1) * WIDTH], y[3 * WIDTH];
  for (int i = 0; i < (ROWS + 1) * WIDTH; ++i)
    rows[i] = 1.0f + (float)i;
  int64_t at = ROWS - 4, bad[] = {ROWS - 3, ROWS, -1, INT64_MAX, INT64_MIN};
  expect(put(&context, into, rows, 4, &at, table) == RESID_OK, "status of an insertion");
  expect(!memcmp(table + at * WIDTH, rows, sizeof(float) * 4 * WIDTH) && table[at * WIDTH - 1] == 0, "the last rows");
  expect(take(NULL, table, ROWS - 3, y) == RESID_OK && !memcmp(y, rows + WIDTH, sizeof(y)), "the last three rows");
  for (int i = 0; i < 5; ++i) {
    expect(put(&context, into, rows, 4, &bad[i], table) == RESID_BAD_VALUE, "rows put outside of the table");
    memset(y, 1, sizeof(y));
    float kept = y[0];
    if (i > 0)
      expect(take(NULL, table, bad[i], y) == RESID_BAD_VALUE && y[0] == kept, "rows taken from outside of the table");
  }
  at = 0;
  table[0] = 7;
  expect(put(&context, into, rows, ROWS + 1, &at, table) == RESID_BAD_SHAPE && table[0] == 7, "more rows than the table has");
  expect(put(&context, into, rows, ROWS, &at, table) == RESID_OK && table[0] == rows[0], "as many rows as the table has");
}

int main(void) {
  float *table = (float *)mapPage() - ROWS * WIDTH, y[6 * WIDTH];
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
  testSlices(table);
  printf("%d failures\n", failures);
  return failures != 0;
}
